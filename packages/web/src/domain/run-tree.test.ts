import type { RunRow } from "@meridian/server/contract"
import { expect, test } from "vitest"

import { runTree, totalCost } from "./run-tree.ts"

const run = (runId: string, costUsd?: number, parentRunId?: string): RunRow => ({
  runId,
  status: "succeeded",
  model: "m",
  spaceId: "s1",
  ...(costUsd === undefined ? {} : { costUsd }),
  ...(parentRunId === undefined ? {} : { parentRunId }),
})
const shown = (runs: readonly RunRow[]) =>
  runTree(runs).map(({ run: { runId }, level, children, cost }) => [runId, level, children, cost])

test("a run comes before those it spawned, and its branch costs what all of them cost", () => {
  const runs = [run("r10", 1), run("r4", 8, "r2"), run("r3", 4, "r1"), run("r2", 2, "r1"), run("r1", 1)]
  expect(shown(runs)).toEqual([
    ["r1", 1, 2, 15],
    ["r2", 2, 1, 10],
    ["r4", 3, 0, 8],
    ["r3", 2, 0, 4],
    ["r10", 1, 0, 1],
  ])
  expect(totalCost(runs)).toBe(16)
})

test("a run whose parent is not in the list is a root", () => {
  expect(shown([run("r2", undefined, "r1")])).toEqual([["r2", 1, 0, 0]])
})

test("runs that name each other or themselves as parents appear once", () => {
  expect(shown([run("r1", 1, "r2"), run("r2", 2, "r1"), run("r3", 4, "r3")])).toEqual([
    ["r3", 1, 0, 4],
    ["r1", 1, 1, 3],
    ["r2", 2, 1, 2],
  ])
})
