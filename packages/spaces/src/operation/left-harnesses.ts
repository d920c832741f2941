/**
 * Harnesses whose worker was killed. No process reads their output, enforces their budget or notices a stall. So they
 * are ended between two tools, and the run resumes in the same conversation.
 */
import type { RunId } from "@meridian/protocol"

import type { Run } from "../domain/run.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import { endLeftovers } from "../store/run-liveness.ts"
import type { State } from "./state.ts"
import { computesSince, toolTimes, type ToolTimes } from "./tool-times.ts"

/** A tool that computes for longer is cut off: no process reads its result anyway. */
const LONGEST_MS = 60_000

interface Left {
  readonly sinceMs: number
  readonly sample: ToolTimes
}

export interface LeftHarnesses {
  /** `elapsedMs` comes from a monotonic clock. The run has no worker, and its lock is held. */
  readonly look: (run: Run, elapsedMs: number) => Promise<void>
  readonly forget: (run: RunId) => void
}

export const openLeftHarnesses = (space: SpacePlace, { sleep }: Pick<State, "sleep">): LeftHarnesses => {
  const left = new Map<RunId, Left>()
  return {
    look: async (run, elapsedMs) => {
      const { report } = runPlace(space, run.id)
      const sample = toolTimes(report, { leader: run.harnessProcess, at: elapsedMs })
      const before = left.get(run.id)
      const sinceMs = before?.sinceMs ?? elapsedMs
      left.set(run.id, { sinceMs, sample })
      if (before === undefined || elapsedMs === before.sample.at) return
      if (computesSince(before.sample, sample) && elapsedMs - sinceMs < LONGEST_MS) return
      await endLeftovers(run, report, sleep)
    },
    forget: (run) => left.delete(run),
  }
}
