import type { LiveEvent } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"

export type LiveItem = LiveEvent | { readonly type: "dropped"; readonly data: { readonly count: number } }

/** Live fragments with a bounded backlog: a slow reader is told how many it missed, nobody waits for it. */
export async function* liveItems(
  watch: (receive: (event: LiveEvent) => void) => () => void,
  signal: AbortSignal,
): AsyncGenerator<LiveItem, void, void> {
  const waiting: LiveEvent[] = []
  let dropped = 0
  let wakeUp: (() => void) | undefined
  const unwatch = watch((event) => {
    if (waiting.length >= LIMITS.liveBacklog) {
      waiting.shift()
      dropped += 1
    }
    waiting.push(event)
    wakeUp?.()
  })
  const stop = () => wakeUp?.()
  signal.addEventListener("abort", stop)
  try {
    while (!signal.aborted) {
      if (dropped > 0) {
        const count = dropped
        dropped = 0
        yield { type: "dropped", data: { count } }
      }
      const event = waiting.shift()
      if (event !== undefined) yield event
      else
        await new Promise<void>((resolve) => {
          wakeUp = resolve
        })
    }
  } finally {
    signal.removeEventListener("abort", stop)
    unwatch()
  }
}
