/** A number of places, taken in the order of asking: for work that is heavy enough to be done only a few at a time. */
import { ToolError } from "../port/tool.ts"

export interface Slots {
  /** Resolves with the function that gives the place back. Leaves the queue when the signal aborts. */
  readonly take: (signal: AbortSignal) => Promise<() => void>
}

export const openSlots = (count: number): Slots => {
  let free = count
  const waiting = new Set<() => void>()

  const giveBack = (): void => {
    free++
    const [next] = waiting
    next?.()
  }

  const once = (): (() => void) => {
    free--
    let held = true
    return () => {
      if (held) giveBack()
      held = false
    }
  }

  return {
    take: async (signal) => {
      if (signal.aborted) throw new ToolError("interrupted", "The call was interrupted.")
      if (free > 0 && waiting.size === 0) return once()
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const onTurn = (): void => {
        leave()
        resolve(once())
      }
      const onAbort = (): void => {
        leave()
        reject(new ToolError("interrupted", "The call was interrupted."))
      }
      const leave = (): void => {
        waiting.delete(onTurn)
        signal.removeEventListener("abort", onAbort)
      }
      waiting.add(onTurn)
      signal.addEventListener("abort", onAbort)
      return promise
    },
  }
}
