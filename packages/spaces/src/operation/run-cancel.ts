import { Failure } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { acquireLock } from "../store/lock.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import { isAlive, signalProcess } from "../store/process-table.ts"
import { endLeftovers } from "../store/run-liveness.ts"
import { endRunFromOutside, readRun, updateRun } from "../store/run-store.ts"
import { readConfig } from "./config.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { sparse } from "./run-document.ts"
import { RUN_CANCEL } from "./run.meta.ts"
import type { State } from "./state.ts"

export const runCancel = implement(RUN_CANCEL, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const run = await findRun(space, input.runId, state)
    const { config } = await readConfig(world)
    const ended = isEnded(run)
      ? run
      : await cancelRun({ space, run, state, graceMs: config["timeouts.kill_grace_seconds"] * 1000 })
    return sparse({
      run_id: run.id,
      space_id: space.id,
      status: ended.status,
      exit_code: ended.end?.exitCode,
      already_ended: isEnded(run) ? true : undefined,
    })
  },
  text: (run) => `${run.run_id} ${run.status}${run.already_ended === true ? " (had ended already)" : ""}`,
})

const STEP_MS = 25

/**
 * Asks the worker, which ends its harness and records the end itself. If it does not answer, we kill it and record
 * the end.
 */
export const cancelRun = async (options: {
  readonly space: SpacePlace
  readonly run: Run
  readonly state: State
  readonly graceMs: number
}): Promise<Run> => {
  const { space, run, state } = options
  const { worker } = run
  // Before the signal: a killed worker leaves its run to others, and they must not resume it.
  await updateRun(space, run.id, { asked: "stop" })
  const ended = async (limitMs: number): Promise<Run | undefined> => {
    for (let waited = 0; waited <= limitMs; waited += STEP_MS) {
      const now = readRun(space, run.id, state.onDamage)
      if (now !== undefined && isEnded(now)) return now
      if (worker !== undefined && !isAlive(worker)) return undefined
      await state.sleep(STEP_MS)
    }
    return undefined
  }
  if (worker !== undefined && worker.pid !== process.pid && isAlive(worker)) {
    signalProcess(worker.pid, "SIGTERM")
    // The worker gives its harness the grace, then needs a moment to write.
    const answered = await ended(options.graceMs + ANSWER_MS)
    if (answered !== undefined) return answered
    if (isAlive(worker)) signalProcess(worker.pid, "SIGKILL")
  }
  const now = readRun(space, run.id, state.onDamage) ?? run
  if (isEnded(now)) return now
  await endLeftovers(now, runPlace(space, run.id).report, state.sleep)
  await endRunFromOutside(space, run.id, {
    status: "cancelled",
    exitCode: 143,
    finishedAt: state.now(),
    error: "cancelled",
    by: "cancel",
  })
  // A process that was just killed holds it for another moment.
  const lock = await acquireLock(runPlace(space, run.id).lock, { waitMs: LIMIT.livenessWaitMs })
  lock?.release({ remove: true })
  const after = readRun(space, run.id, state.onDamage)
  if (after === undefined || !isEnded(after)) throw new Failure("CANCEL_FAILED", { run: run.id })
  return after
}

const ANSWER_MS = 3_000
