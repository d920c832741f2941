import type { StoredEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { createSignals } from "./signals.ts"

/** A store that only has a version and commits, and a clock that ticks when told to. */
const openSignals = () => {
  let version = 1
  let commit: (sessionID: string, events: readonly StoredEvent[]) => void = () => undefined
  const ticks = new Set<() => void>()
  const signals = createSignals({
    store: {
      reader: { foreignVersion: () => version },
      log: {
        onCommit: (listener: typeof commit) => {
          commit = listener
          return () => undefined
        },
      },
    },
    world: {
      every: (_ms: number, tick: () => void) => {
        ticks.add(tick)
        return () => ticks.delete(tick)
      },
    },
  })
  return {
    signals,
    commitHere: (sessionID: string) => commit(sessionID, []),
    commitElsewhere: () => {
      version += 1
    },
    tick: () => {
      for (const tick of ticks) tick()
    },
    isPolling: () => ticks.size > 0,
  }
}

test("a commit of this process reaches those who watch its session, and nobody else", () => {
  const { signals, commitHere } = openSignals()
  const seen: string[] = []
  signals.watch("a", () => seen.push("a"))
  signals.watch("b", () => seen.push("b"))
  signals.watchForeign(() => seen.push("foreign"))
  commitHere("a")
  expect(seen).toEqual(["a"])
})

test("a commit of another process is noticed at the next poll, once", () => {
  const { signals, commitElsewhere, tick } = openSignals()
  const seen: string[] = []
  signals.watch("a", () => seen.push("a"))
  signals.watchForeign(() => seen.push("foreign"))
  tick()
  commitElsewhere()
  tick()
  tick()
  expect(seen).toEqual(["a", "foreign"])
})

test("nothing is polled and nothing is kept while nobody watches", () => {
  const { signals, commitHere, isPolling, tick } = openSignals()
  expect(isPolling()).toBe(false)
  let seen = 0
  const leaves = [signals.watch("a", () => (seen += 1)), signals.watch("a", () => (seen += 1))]
  expect(isPolling()).toBe(true)
  leaves[0]?.()
  commitHere("a")
  expect(seen).toBe(1)
  leaves[1]?.()
  commitHere("a")
  tick()
  expect([seen, isPolling()]).toEqual([1, false])
})

test("live fragments reach those who are connected, and are gone otherwise", () => {
  const { signals } = openSignals()
  const event = { type: "compaction.delta", data: { compactionID: "c", delta: "x" } } as const
  signals.publishLive("a", event)
  const seen: unknown[] = []
  const leave = signals.watchLive("a", (received) => seen.push(received))
  signals.publishLive("a", event)
  signals.publishLive("b", event)
  leave()
  signals.publishLive("a", event)
  expect(seen).toEqual([event])
})
