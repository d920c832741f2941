/**
 * The short form of `bench/days`: real processes, really killed, on a clock that moves only when nothing real is left to
 * do.
 */
import { expect } from "vitest"

import { SHORT } from "../../bench/days/plan.ts"
import { takeWalk } from "../../bench/days/walk.ts"
import { verifies } from "../verifies.ts"

verifies("walk.hundred-hours", async () => {
  const walked = await takeWalk(SHORT)
  expect(walked).toMatchObject({
    status: "idle",
    kills: SHORT.kills.length,
    limits: SHORT.limits.length,
    tools: SHORT.turns,
    toolsTwice: 0,
    beforeReset: 0,
  })
  // The benchmark measures how soon it continues after a reset: on a busy machine that clock runs beside real work.
  expect(walked.afterCompaction).toBeGreaterThan(0)
  expect(walked.withTask).toBe(walked.afterCompaction)
})
