/** Carries out a checked run: here, or in its own process if it runs in the background or for a server. */
import { Failure, type RunId } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { runPlace, spacePlace } from "../store/place.ts"
import { readRun } from "../store/run-store.ts"
import { executeRun } from "./execute-run.ts"
import { findRun } from "./find-run.ts"
import { launchWorker } from "./launch-worker.ts"
import { openLiveRuns } from "./live-runs.ts"
import { cancelRun } from "./run-cancel.ts"
import { readReport, runDocument } from "./run-document.ts"
import type { RunPlan } from "./run-plan.ts"
import type { SpawnDocument } from "./run-schema.ts"
import type { State } from "./state.ts"
import { ensureSupervisor } from "./supervisor.ts"
import type { World } from "./world.ts"

export const carryOut = async (
  plan: RunPlan,
  state: State,
  world: World,
  isQuiet: boolean,
): Promise<SpawnDocument> => {
  const space = spacePlace(state.place, plan.space)
  if (plan.background) {
    const id = await beginInWorker(plan, state, world)
    await ensureSupervisor(state, world)
    const run = readRun(space, id, state.onDamage)
    if (run === undefined)
      throw new Failure("BACKGROUND_LAUNCH_FAILED", { reason: `run ${id} left no trace` })
    return { ...runDocument(space, run), background: true }
  }
  const run =
    world.face === "tool" ? await watchWorker(plan, state, world) : await runHere(plan, state, world, isQuiet)
  const report = readReport(space, run)
  return {
    ...runDocument(space, run),
    ...(report === undefined ? { events_path: runPlace(space, run.id).events } : { report }),
  }
}

const runHere = async (plan: RunPlan, state: State, world: World, isQuiet: boolean): Promise<Run> => {
  const space = spacePlace(state.place, plan.space)
  await using live = await openLiveRuns(space, world, isQuiet)
  const over = new AbortController()
  const onBegun = (begun: RunId): void => {
    announce(begun, plan, world)
    const run = readRun(space, begun, state.onDamage)
    if (run !== undefined) live.show([run])
    void standBy(over.signal, state, world)
  }
  const { id } = await executeRun(plan, world, { owner: "person", onBegun }).finally(() => over.abort())
  const run = readRun(space, id, state.onDamage)
  if (run === undefined) throw new Failure("RUN_NOT_FOUND", { run: id, space: plan.space })
  return run
}

/**
 * If this command is killed, its run must not end with it. So a supervisor stands by, unless the run ends within
 * moments.
 */
const standBy = async (over: AbortSignal, state: State, world: World): Promise<void> => {
  await world.clock.sleep(STAND_BY_MS, over)
  if (!over.aborted) await ensureSupervisor(state, world)
}

const STAND_BY_MS = 5_000

const beginInWorker = async (plan: RunPlan, state: State, world: World): Promise<RunId> => {
  const id = await launchWorker({ kind: "begin", plan }, state, world)
  if (id === undefined) throw new Failure("BACKGROUND_LAUNCH_FAILED", { reason: "it ended at once" })
  return id
}

/** A server carries out many runs. Each has its own process, so that ending one ends nothing else. */
const watchWorker = async (plan: RunPlan, state: State, world: World): Promise<Run> => {
  const space = spacePlace(state.place, plan.space)
  const id = await beginInWorker(plan, state, world)
  for (;;) {
    const run = await findRun(space, id, state)
    if (isEnded(run) || run.status === "paused") return run
    if (world.signal.aborted) return await cancelRun({ space, run, state, graceMs: plan.policy.killGraceMs })
    world.progress(`Run ${id} is ${run.status}.`)
    await world.clock.sleep(LIMIT.pollMs, world.signal)
  }
}

/** In text mode the reader learns the run's id at once; the rest follows when it has ended. */
const announce = (id: RunId, plan: RunPlan, world: World): void => {
  world.progress(`Run ${id} started.`)
  if (world.json || world.face === "tool") return
  world.stderr.write(
    `Run ${id} in space ${plan.space}: ${plan.model === "" ? "default model" : plan.model} (${plan.harness})\n`,
  )
}
