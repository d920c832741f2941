import { runId, type RunId } from "@meridian/protocol"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { mayRun } from "./admission.ts"
import type { Run } from "./run.ts"

type Live = Pick<Run, "id" | "status" | "parentRunId">
const live = (id: string, status: "queued" | "running", parent?: string): Live => ({
  id: runId(id),
  status,
  parentRunId: parent === undefined ? undefined : runId(parent),
})

test("the oldest queued runs take the free places", () => {
  const runs = [live("r1", "running"), live("r2", "queued"), live("r3", "queued")]
  expect([mayRun(runs, runId("r2"), 2), mayRun(runs, runId("r3"), 2)]).toEqual([true, false])
  expect(mayRun(runs, runId("r3"), 0)).toBe(true)
})

test("a child does not wait for its own family", () => {
  const runs = [
    live("r1", "running"),
    live("r2", "running", "r1"),
    live("r3", "queued", "r2"),
    live("r4", "queued"),
  ]
  expect([mayRun(runs, runId("r3"), 1), mayRun(runs, runId("r4"), 1)]).toEqual([true, false])
})

/** Runs wait for their children, and the deepest one that can run does. However they are spawned, all of them end. */
test("whatever the family tree, some run can always continue, and unrelated runs never exceed the limit", () => {
  const spawns = fc.array(fc.nat(9), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(spawns, fc.integer({ min: 1, max: 3 }), (parents, limit) => {
      let runs: Live[] = []
      parents.forEach((pick, index) => {
        const running = runs.filter((run) => run.status === "running")
        const parent = pick < running.length ? running[pick]?.id : undefined
        runs.push({ id: runId(`r${index + 1}`), status: "queued", parentRunId: parent })
        runs = admit(runs, limit)
        const strangers = runs.filter((run) => run.status === "running" && run.parentRunId === undefined)
        expect(strangers.length).toBeLessThanOrEqual(limit)
      })
      for (let left = runs.length; left > 0; left -= 1) {
        const waiting = new Set(runs.map((run) => run.parentRunId))
        const free = runs.find((run) => run.status === "running" && !waiting.has(run.id))
        expect(free).toBeDefined()
        runs = admit(
          runs.filter((run) => run !== free),
          limit,
        )
      }
    }),
  )
})

const admit = (runs: readonly Live[], limit: number): Live[] => {
  const admitted = new Set<RunId>(
    runs.filter((run) => run.status === "queued" && mayRun(runs, run.id, limit)).map((run) => run.id),
  )
  return runs.map((run) => (admitted.has(run.id) ? { ...run, status: "running" } : run))
}
