/** What a person can do to a run in progress: send it words, pause it, resume it. */
import { Failure } from "@meridian/protocol"

import { isEnded, type Run } from "../domain/run.ts"
import { withLock } from "../store/lock.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import { isAlive } from "../store/process-table.ts"
import { sendWords, waitingWords } from "../store/run-inbox.ts"
import { endLeftovers } from "../store/run-liveness.ts"
import { readRun, updateRun, updateRunIf } from "../store/run-store.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { resumeInWorker } from "./look-after-runs.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { raiseCaps } from "./raise-caps.ts"
import { RUN_PAUSE, RUN_RESUME, RUN_SEND, RUN_SUPERVISE, UP } from "./run.meta.ts"
import type { State } from "./state.ts"
import { readStoredPlan } from "./stored-plan.ts"
import { ensureSupervisor, standBy, supervise } from "./supervisor.ts"
import { sweepAll, openRuns } from "./sweep.ts"

export const runSupervise = implement(RUN_SUPERVISE, {
  run: async ({ stay }, world) => {
    if (!stay) return { worked: await supervise(world, { stays: false }) }
    await standBy(world)
    return { worked: true }
  },
  text: () => "",
})

export const up = implement(UP, {
  run: async (_input, world) => {
    await sweepAll(world)
    return { runs: openRuns(openState(world)) }
  },
  text: ({ runs }) => (runs.length === 0 ? "(nothing was left behind)" : runs.join("\n")),
})

export const runSend = implement(RUN_SEND, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    if (input.text.trim() === "") throw new Failure("PROMPT_REQUIRED")
    const { id } = await findRun(space, input.runId, state)
    const files = runPlace(space, id)
    const run = await withLock(space.runsLock, () => {
      const now = requireOpen(space, id, state)
      sendWords(files, input.text, state.now())
      return now
    })
    await ensureSupervisor(state, world)
    return { run_id: id, status: run.status, waiting_words: waitingWords(files).length }
  },
  text: (run) => `${run.run_id} ${run.status}: will be told`,
})

export const runPause = implement(RUN_PAUSE, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const { id } = await findRun(space, input.runId, state)
    const run = requireOpen(space, id, state)
    if (run.status !== "paused") {
      // Without a worker there is no answer, so we pause it from here and end what still works for it.
      const isWorking = run.worker !== undefined && isAlive(run.worker)
      if (!isWorking) await endLeftovers(run, runPlace(space, id).report, state.sleep)
      await updateRunIf(space, id, () => (isWorking ? { asked: "pause" } : { status: "paused" }))
      await until(state, () => readRun(space, id, state.onDamage)?.status === "paused")
    }
    return { run_id: id, status: readRun(space, id, state.onDamage)?.status ?? run.status }
  },
  text: (run) =>
    `${run.run_id} ${run.status === "paused" ? "paused" : `${run.status}: will pause when its tool has ended`}`,
})

export const runResume = implement(RUN_RESUME, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const { id } = await findRun(space, input.runId, state)
    const run = requireOpen(space, id, state)
    await raiseCaps(run, input, { space, state, world })
    if (run.status === "running" || run.status === "queued") return { run_id: id, status: run.status }
    const kept = readStoredPlan(space, id, state, world)
    if (kept.tag === "moved") throw new Failure("RUN_NOT_RESUMABLE", { run: id, why: kept.why })
    await updateRun(space, id, { asked: "resume" })
    if (run.worker === undefined || !isAlive(run.worker)) await resumeInWorker(space, id, state, world)
    await ensureSupervisor(state, world)
    const moved = (): Run | undefined => {
      const now = readRun(space, id, state.onDamage)
      return now === undefined || now.status === run.status ? undefined : now
    }
    await until(state, () => moved() !== undefined)
    const now = moved()
    if (now === undefined) throw new Failure("RUN_NOT_RESUMABLE", { run: id, why: whyNot(space, run, state) })
    return { run_id: id, status: now.status }
  },
  text: (run) => `${run.run_id} ${run.status}`,
})

const whyNot = (space: SpacePlace, run: Run, state: State): string => {
  const verdict = state.resumable(space, { ...run, status: "running" })
  return verdict === true ? "no process resumed it in time" : verdict
}

const requireOpen = (space: SpacePlace, id: Run["id"], state: State): Run => {
  const run = readRun(space, id, state.onDamage)
  if (run === undefined) throw new Failure("RUN_NOT_FOUND", { run: id, space: space.id })
  if (isEnded(run)) throw new Failure("RUN_ENDED", { run: id, status: run.status })
  return run
}

const STEP_MS = 50
const STEPS = 200

/** A worker usually answers within moments. A tool at work may take longer, and we do not wait for it. */
const until = async (state: State, isSo: () => boolean): Promise<void> => {
  for (let step = 0; step < STEPS && !isSo(); step += 1) await state.sleep(STEP_MS)
}
