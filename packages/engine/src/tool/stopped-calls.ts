/**
 * Calls that were told to stop and have not ended. Foreign code may continue as long as it likes. We stop waiting for it
 * after a grace period, and from then on must not start the same call beside it.
 */
import type { Json } from "@meridian/protocol"

import { ToolError, type ToolScene } from "../port/tool.ts"

export interface StoppedCalls {
  /** Runs a call, unless the same call of the session was told to stop and is still running. */
  readonly run: <A>(call: StoppableCall, work: () => Promise<A>) => Promise<A>
}

interface StoppableCall {
  readonly name: string
  readonly input: Json
  readonly scene: Pick<ToolScene, "sessionID" | "signal">
}

export const openStoppedCalls = (): StoppedCalls => {
  const going = new Map<string, number>()
  const add = (key: string, count: number): void => {
    const left = (going.get(key) ?? 0) + count
    if (left === 0) going.delete(key)
    else going.set(key, left)
  }
  return {
    run: async (call, work) => {
      if (going.size > 0 && going.has(keyOf(call)))
        throw new ToolError(
          "failed",
          `Not run: the same call of ${call.name} was told to stop before and has not ended. Wait for it, or do something else.`,
        )
      const { signal } = call.scene
      let key: string | undefined
      const onAbort = (): void => {
        key = keyOf(call)
        add(key, 1)
      }
      signal.addEventListener("abort", onAbort)
      try {
        return await work()
      } finally {
        signal.removeEventListener("abort", onAbort)
        if (key !== undefined) add(key, -1)
      }
    },
  }
}

const keyOf = ({ name, input, scene }: StoppableCall): string =>
  JSON.stringify([scene.sessionID, name, input])
