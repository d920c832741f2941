/**
 * Which queued runs may start. At most `maxParallel` runs of a space work at once, oldest first. A run that waits for
 * its child does not count against that child, so a family can never block itself.
 */
import type { RunId } from "@meridian/protocol"

import type { Run } from "./run.ts"

type Waiting = Pick<Run, "id" | "status" | "parentRunId">

/** `runs` are the live runs, in the order they started. A limit of 0 means no limit. */
export const mayRun = (runs: readonly Waiting[], id: RunId, maxParallel: number): boolean => {
  if (maxParallel <= 0) return true
  const running = new Set(runs.filter((run) => run.status === "running").map((run) => run.id))
  for (const run of runs) {
    if (run.status !== "queued") continue
    const family = ancestorsOf(runs, run)
    const others = [...running].filter((other) => !family.has(other)).length
    const admitted = others < maxParallel
    if (run.id === id) return admitted
    if (admitted) running.add(run.id)
  }
  return false
}

const ancestorsOf = (runs: readonly Waiting[], run: Waiting): ReadonlySet<RunId> => {
  const found = new Set<RunId>()
  let parent = run.parentRunId
  while (parent !== undefined && !found.has(parent)) {
    const id = parent
    found.add(id)
    parent = runs.find((other) => other.id === id)?.parentRunId
  }
  return found
}
