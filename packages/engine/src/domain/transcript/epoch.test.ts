import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import { foldSurroundings, NO_SURROUNDINGS } from "./epoch.ts"

const { baseline, updated } = EVENTS
const moved = { type: "session.next.moved.1", data: { location: { directory: "/other" } } } as const
const discovered = { type: "session.next.instruction.discovered.1", data: { path: "a/AGENTS.md" } } as const

test("an update advances the snapshot of the baseline in force, and its text stays", () => {
  const folded = foldSurroundings(NO_SURROUNDINGS, logged([baseline("first"), updated("u", "it is tue")]))
  expect(folded).toEqual({
    epoch: { baseline: "first", seq: 1, snapshot: { date: { value: "tue", removal: "no date" } } },
    discovered: [],
  })
})

test("a new baseline replaces the old one and keeps what was found", () => {
  const folded = foldSurroundings(
    NO_SURROUNDINGS,
    logged([baseline("first"), discovered, baseline("second")]),
  )
  expect(folded).toMatchObject({ epoch: { baseline: "second", seq: 3 }, discovered: ["a/AGENTS.md"] })
})

test("a move leaves the context of the old place behind", () => {
  expect(foldSurroundings(NO_SURROUNDINGS, logged([baseline("first"), discovered, moved]))).toEqual({
    epoch: undefined,
    discovered: [],
  })
})

test("an update without a baseline tells nothing", () => {
  expect(foldSurroundings(NO_SURROUNDINGS, logged([updated("u", "x")]))).toBe(NO_SURROUNDINGS)
})
