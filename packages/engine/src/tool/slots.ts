/** A fixed number of slots, given out in the order of requests, for heavy work that should run only a few times at once. */
import { ToolError } from "../port/tool.ts"

export interface Slots {
  /** Resolves with the function that releases the slot. Leaves the queue when the signal aborts. */
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
