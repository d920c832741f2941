import type { ContextSnapshot, Json } from "@meridian/protocol"
import { array, assert, constantFrom, integer, oneof, property, record } from "fast-check"
import { expect, test } from "vitest"

import { advance, initialize, rebaseline, reconcile, type Observation, type Observed } from "./context.ts"

const source = (key: string) => ({
  key,
  baseline: (value: Json) => `${key}=${JSON.stringify(value)}`,
  update: (previous: Json, value: Json) => `${key}: ${JSON.stringify(previous)} -> ${JSON.stringify(value)}`,
  removal: (value: Json) => `${key} gone (${JSON.stringify(value)})`,
})
const seen = (entries: Readonly<Record<string, Observed>>): Observation =>
  Object.entries(entries).map(([key, observed]) => ({ source: source(key), observed }))
const value = (content: Json): Observed => ({ kind: "value", value: content })
const UNAVAILABLE: Observed = { kind: "unavailable" }
const snapshotOf = (entries: Readonly<Record<string, Json>>): ContextSnapshot =>
  Object.fromEntries(
    Object.entries(entries).map(([key, content]) => [
      key,
      { value: content, removal: source(key).removal(content) },
    ]),
  )

test("the first observation is the baseline of everything there is", () => {
  expect(initialize(seen({ a: value(1), b: { kind: "absent" }, c: value("x") }))).toEqual({
    kind: "baseline",
    baseline: 'a=1\n\nc="x"',
    snapshot: snapshotOf({ a: 1, c: "x" }),
  })
})

test("one unavailable source blocks the first baseline; an unobserved one does not", () => {
  expect(initialize(seen({ a: value(1), b: UNAVAILABLE, c: { kind: "unobserved" } }))).toEqual({
    kind: "blocked",
    keys: ["b"],
  })
})

test("reconciling says what is new, changed, gone and closed, in one text", () => {
  const before = snapshotOf({ same: 1, changed: 1, absent: 1, away: 1, closed: 1 })
  const observation = seen({
    same: value(1),
    changed: value(2),
    absent: { kind: "absent" },
    away: UNAVAILABLE,
    fresh: value(3),
  })
  expect(reconcile(before, observation)).toEqual({
    kind: "updated",
    text: "changed: 1 -> 2\n\nabsent gone (1)\n\nfresh=3\n\nclosed gone (1)",
    changed: snapshotOf({ changed: 2, fresh: 3 }),
    removed: ["absent", "closed"],
  })
})

test("the order of keys in a value makes no difference", () => {
  expect(reconcile(snapshotOf({ a: { x: 1, y: 2 } }), seen({ a: value({ y: 2, x: 1 }) }))).toEqual({
    kind: "unchanged",
  })
})

test("after a compaction a source that was told but is unavailable keeps the old baseline", () => {
  expect(rebaseline(snapshotOf({ a: 1 }), seen({ a: UNAVAILABLE, b: value(2) }))).toEqual({
    kind: "blocked",
    keys: ["a"],
  })
  expect(rebaseline(snapshotOf({ b: 1 }), seen({ a: UNAVAILABLE, b: value(2) }))).toMatchObject({
    kind: "baseline",
  })
})

const observedArbitrary = oneof(
  integer({ min: 0, max: 3 }).map((content): Observed => value(content)),
  constantFrom<Observed>(UNAVAILABLE, { kind: "absent" }, { kind: "unobserved" }),
)

test("the snapshot is the fold of the updates: it holds for each source what was last said", () => {
  const walk = array(record({ a: observedArbitrary, b: observedArbitrary, c: observedArbitrary }), {
    maxLength: 20,
  })
  assert(
    property(walk, (steps) => {
      let snapshot: ContextSnapshot = {}
      const told = new Map<string, Json>()
      for (const step of steps) {
        const decision = reconcile(snapshot, seen(step))
        if (decision.kind === "updated") snapshot = advance(snapshot, decision)
        for (const [key, observed] of Object.entries(step)) {
          if (observed.kind === "value") told.set(key, observed.value)
          if (observed.kind === "absent") told.delete(key)
        }
        expect(
          Object.fromEntries(Object.entries(snapshot).map(([key, entry]) => [key, entry.value])),
        ).toEqual(Object.fromEntries(told))
        // Reconciling again reports nothing.
        expect(reconcile(snapshot, seen(step))).toEqual({ kind: "unchanged" })
      }
    }),
  )
})
