/** Reads the durable events of one session in order as they are committed, and reports when it has read far enough. */
import type { Engine, SessionEvent } from "@meridian/engine"

export interface Follower {
  /** Resolves when everything up to this sequence has been taken. */
  readonly upTo: (seq: number) => Promise<void>
  readonly close: () => Promise<void>
}

export const followEvents = (
  engine: Engine,
  place: { readonly sessionID: string; readonly after: number },
  take: (event: SessionEvent) => void | Promise<void>,
): Follower => {
  const closed = new AbortController()
  const events = engine.sessions.events({ ...place, follow: true }, { signal: closed.signal })
  const waiting = new Map<number, () => void>()
  let seen = place.after
  const reading = (async () => {
    for await (const event of events) {
      await take(event)
      if (!("seq" in event)) continue
      seen = event.seq
      for (const [seq, arrive] of waiting)
        if (seq <= seen) {
          waiting.delete(seq)
          arrive()
        }
    }
  })()
  // A waiting caller gets the failure. Until then it must not be an unhandled rejection.
  reading.catch(() => undefined)
  return {
    upTo: async (seq) => {
      const arrived = new Promise<void>((arrive) => {
        if (seq <= seen) arrive()
        else waiting.set(seq, arrive)
      })
      await Promise.race([reading, arrived])
    },
    close: async () => {
      closed.abort()
      await reading
    },
  }
}
