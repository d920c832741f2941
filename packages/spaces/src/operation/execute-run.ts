/**
 * Carries out one run from its first event to its last, in the process that owns it. Whatever happens in between, the
 * run gets an end. Only a SIGKILL can prevent that, and then the next command of any kind records the end.
 */
import { Failure, systemCode, type RunId } from "@meridian/protocol"

import { mayRun } from "../domain/admission.ts"
import { decodeLine, text } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { wholePrompt } from "../domain/prompt-text.ts"
import type { Resumption } from "../domain/resume-note.ts"
import { isProgress } from "../domain/run-activity.ts"
import { isEnded, type AttemptEnded, type Run, type RunEnd } from "../domain/run.ts"
import { recordedTask } from "../domain/task.ts"
import { isAbove } from "../domain/tier.ts"
import { acquireLock } from "../store/lock.ts"
import { scanLines } from "../store/log-lines.ts"
import { runPlace, spacePlace, type SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import {
  beginRun,
  endRun,
  logWatch,
  readRun,
  readRuns,
  updateRun,
  updateRunIf,
  type OpenRun,
} from "../store/run-store.ts"
import { spentByLost } from "./attempt-spending.ts"
import { openTally, tally, tallyEventIn, tellerOf } from "./attempt-tally.ts"
import { fillWorktree } from "./fill-worktree.ts"
import { announce, choosePlace, type RunPlaceChoice } from "./isolate-run.ts"
import { launchEnvironment } from "./launcher.ts"
import { loadHarness } from "./load-harness.ts"
import { notify } from "./notify.ts"
import { openState } from "./open-state.ts"
import { parentTier } from "./parent.ts"
import { attemptUntilEnded, type Settled } from "./run-attempts.ts"
import { forgetLiveSpent, readLiveSpent, withLiveSpent } from "./run-budget.ts"
import type { RunContext } from "./run-context.ts"
import { taskOf } from "./run-look.ts"
import { stopped, type Outcome } from "./run-outcome.ts"
import type { RunPlan, WorkerOrder } from "./run-plan.ts"
import { keepRunMoment } from "./run-trees.ts"
import { openSeal } from "./seal.ts"
import { isoTime, ownMark, type State } from "./state.ts"
import { openStopper } from "./stop-source.ts"
import { readStoredPlan, storePlan } from "./stored-plan.ts"
import type { World } from "./world.ts"

export interface FinishedRun {
  readonly id: RunId
  /** Undefined if it is paused, or left to others. */
  readonly end: RunEnd | undefined
}

/** Who owns the process, and a callback for when the run exists. */
export interface Executor {
  readonly owner: "worker" | "person"
  readonly onBegun: (id: RunId) => void
}

export const executeRun = async (plan: RunPlan, world: World, executor: Executor): Promise<FinishedRun> => {
  const state = openState(world)
  const space = spacePlace(state.place, plan.space)
  requireParent(plan, state, world)
  await loadHarness(plan.harness, world)
  // The plan of a run is sealed, so the key must exist before the run does.
  await openSeal(space.id, state, world)
  const place = await choosePlace(plan, state, world)
  try {
    const run = await begin({ place, plan, state, space, world })
    place.writer?.rename(`${plan.space} ${run.id}`)
    const settled = place.planFor(run.id)
    return await carryThrough({ plan: settled, world, state, space, run, resumption: undefined }, executor)
  } finally {
    place.writer?.close()
  }
}

/** Resumes a run whose worker is gone. Undefined if it has ended by now, or if another process resumed it. */
export const resumeRun = async (
  { space: id, run: runId }: Extract<WorkerOrder, { kind: "resume" }>,
  world: World,
  executor: Executor,
): Promise<FinishedRun | undefined> => {
  const state = openState(world)
  const space = spacePlace(state.place, id)
  const kept = readStoredPlan(space, runId, state, world)
  if (kept.tag !== "plan") throw new Failure("RUN_NOT_RESUMABLE", { run: runId, why: kept.why })
  const { plan } = kept
  const lock = await acquireLock(runPlace(space, runId).lock, { waitMs: LIMIT.livenessWaitMs })
  if (lock === undefined) return undefined
  const found = readRun(space, runId, state.onDamage)
  if (found === undefined || isEnded(found)) {
    lock.release({ remove: true })
    return undefined
  }
  await updateRun(space, runId, {
    status: "queued",
    worker: ownMark(),
    at: state.now(),
    attemptEnded: await lostAttempt(found, { space, state, world }),
  })
  const run: OpenRun = { id: runId, start: { ...found, status: "queued" }, lock }
  const resumption: Resumption =
    found.status === "waiting" ? "limit" : found.status === "paused" ? "paused" : "worker_died"
  const writer = announce(plan, state, world, runId)
  try {
    return await carryThrough({ plan, world, state, space, run, resumption }, executor)
  } finally {
    writer?.close()
  }
}

type Opened = Pick<RunContext, "plan" | "world" | "state" | "space" | "run" | "resumption">

const carryThrough = async (opened: Opened, { owner, onBegun }: Executor): Promise<FinishedRun> => {
  const { world, state, space, run } = opened
  let asking: Promise<unknown> = Promise.resolve()
  const stopper = openStopper(world, {
    owner,
    isAsked: () => readRun(space, run.id, () => undefined)?.asked === "stop",
    // Even if this process is killed, the next process that finds the run stops it.
    onAsked: () => {
      asking = updateRun(space, run.id, { asked: "stop" }).catch(() => undefined)
    },
  })
  const context: RunContext = {
    ...opened,
    files: runPlace(space, run.id),
    stopper,
    read: () => {
      const now = readRun(space, run.id, state.onDamage)
      if (now === undefined) throw new Failure("RUN_NOT_FOUND", { run: run.id, space: space.id })
      return now
    },
  }
  const finish = (outcome: Outcome): RunEnd => ({
    ...outcome,
    finishedAt: state.now(),
    durationSecs: workedSecs(context.read(), world.clock.now()),
    by: "worker",
  })
  let end: RunEnd | undefined
  let isOpen = false
  try {
    onBegun(run.id)
    const settled = await work(context)
    if (settled.tag === "ended") end = finish(settled.outcome)
    else isOpen = true
    return { id: run.id, end }
  } catch (error) {
    if (error instanceof Failure && error.code === "SPACE_CLOSED") {
      // The space was closed after the run had begun: that ends the run like any other cancel.
      end = finish({ status: "cancelled", exitCode: 143, error: "cancelled", message: error.message })
      return { id: run.id, end }
    }
    // Room may come back: the next process that finds the run then resumes it.
    if (isFull(error)) isOpen = true
    else end = finish({ status: "failed", exitCode: 2, error: "infrastructure", message: sentence(error) })
    throw error
  } finally {
    await asking
    if (end !== undefined) {
      await endRun(space, run, end)
      forgetLiveSpent(context.files)
    }
    if (isOpen) run.lock.release({ remove: true })
    // Only now: while we listen, a second signal cannot end this process before the end is written.
    stopper.close()
    if (end !== undefined) await tellEnd(context, end)
  }
}

const isFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(systemCode(error))

const work = async (context: RunContext): Promise<Settled> => {
  const { stopper } = context
  if (await queue(context)) await fillWorktree(context)
  if (stopper.isLeft()) return { tag: "left" }
  if (stopper.signal.aborted) return { tag: "ended", outcome: stopped(stopper) }
  await keepRunMoment(context, "start")
  const settled = await attemptUntilEnded(context)
  if (settled.tag === "ended") await keepRunMoment(context, "end")
  return settled
}

/** Time in the queue and time spent waiting do not count as work. */
const workedSecs = ({ attempts }: Run, nowMs: number): number => {
  const spans = attempts.map(
    ({ began, ended }) => (ended === undefined ? nowMs : Date.parse(ended)) - Date.parse(began),
  )
  return Math.round(spans.reduce((sum, span) => sum + (Number.isNaN(span) ? 0 : Math.max(0, span)), 0)) / 1000
}

/** The attempt whose end no process saw, as far as its events and its harness know. */
const lostAttempt = async (
  { id, attempts, harness: current }: Run,
  { space, state, world }: { readonly space: SpacePlace; readonly state: State; readonly world: World },
): Promise<AttemptEnded | undefined> => {
  const last = attempts.at(-1)
  if (last === undefined || last.ended !== undefined) return undefined
  const harness = await loadHarness(last.harness === "" ? current : last.harness, world)
  const teller = tellerOf(harness.id)
  let madeProgress = false
  let told = openTally(Date.parse(last.began))
  scanLines(runPlace(space, id).events, (line) => {
    const event = line === undefined ? undefined : decodeLine(line)
    const at = event === undefined ? undefined : text(event, "at")
    if (event === undefined || at === undefined || at < last.began) return
    madeProgress ||= isProgress(text(event, "type") ?? "")
    const tallied = tallyEventIn(event)
    if (tallied !== undefined) told = tally(told, tallied, { atMs: Date.parse(at), teller })
  })
  const used = await spentByLost(last, told, { harness, environment: launchEnvironment(world) })
  const { usage, turns } = withLiveSpent(used, readLiveSpent(space, id), last.number)
  return { number: last.number, ended: state.now(), why: "worker_died", turns, madeProgress, ...usage }
}

/** If another run started this run, that one handles its end. */
const tellEnd = async ({ plan, space, run, world }: RunContext, end: RunEnd): Promise<void> => {
  if (plan.parent !== undefined) return
  const task = taskOf(space, run.start)
  await notify(
    plan.policy.notify,
    {
      event: "ended",
      message: `Run ${run.id} ${end.status}${task === "" ? "" : `: ${task}`}`,
      facts: { run: run.id, space: space.id, status: end.status },
    },
    world,
  )
}

/** The process that made the plan has already checked this. It is checked again in case another process made the plan. */
const requireParent = ({ space, launch }: RunPlan, state: State, world: World): void => {
  const parent = parentTier(space, state, world)
  const wished = launch.permission ?? "read-only"
  if (parent !== undefined && isAbove(wished, parent))
    throw new Failure("TIER_ABOVE_PARENT", { wished, parent })
}

const begin = (options: {
  readonly place: RunPlaceChoice
  readonly plan: RunPlan
  readonly state: State
  readonly space: SpacePlace
  readonly world: World
}): Promise<OpenRun> => {
  const { plan, place } = options
  const { prompt, launch, policy: _, task: __, firstTask: ___, ...params } = plan
  const told = plan.session.kind === "new" || launch.instructionsChanged === true
  return beginRun(options.state.place, options.space, {
    firing: plan.firing,
    longTask: recordedTask(plan.task) === plan.task ? undefined : plan.task,
    prompt: wholePrompt({ instructions: told ? (launch.instructions ?? "") : "", prompt }),
    params: (id) => ({
      ...params,
      effort: launch.effort,
      permission: launch.permission,
      params: launch.params,
      ...storePlan(place.planFor(id), id, options.state, options.world),
    }),
    start: (id, others) => {
      const open = others.filter((other) => !isEnded(other))
      const self = { id, status: "queued" as const, parentRunId: plan.parent }
      const { cwd, worktree } = place.planFor(id)
      return {
        id,
        status: mayRun([...open, self], id, plan.policy.maxParallel) ? "running" : "queued",
        task: recordedTask(plan.task),
        chatId: plan.chat,
        parentRunId: plan.parent,
        continuedFrom: plan.continuedFrom,
        depth: plan.depth,
        model: plan.model,
        harness: plan.harness,
        harnessSessionId: plan.session.kind === "continue" ? plan.session.id : undefined,
        agent: plan.agent?.name,
        agentPath: plan.agent?.path,
        skills: plan.skills.map((skill) => skill.name),
        skillPaths: plan.skills.map((skill) => skill.path),
        permission: launch.permission,
        cwd,
        worktree,
        sandbox: plan.sandboxRecord,
        contest: plan.contest,
        besides: place.besides.length === 0 ? undefined : place.besides,
        background: plan.background,
        timeoutSecs: plan.timeoutSecs,
        firing: plan.firing,
        startedAt: isoTime(options.world.clock.now()),
        worker: ownMark(),
      }
    },
  })
}

/** Waits for a place among the runs that may work at once. False if it was stopped while waiting. */
const queue = async ({ plan, world, state, space, run, stopper }: RunContext): Promise<boolean> => {
  if (run.start.status === "running") return !stopper.signal.aborted
  world.warn("RUN_QUEUED", { run: run.id, limit: plan.policy.maxParallel, space: space.id })
  const admitted = (runs: readonly Run[]): boolean =>
    mayRun(
      runs.filter((other) => !isEnded(other)),
      run.id,
      plan.policy.maxParallel,
    )
  const isNews = logWatch(space)
  while (!stopper.signal.aborted) {
    await world.clock.sleep(LIMIT.pollMs, stopper.signal)
    world.progress(`Run ${run.id} is queued.`)
    if (!isNews()) continue
    // First without the lock, since most looks end here. Dead runs are settled first; we would wait for them forever.
    if (!admitted(await settleRuns(space, readRuns(space, state.onDamage), state))) continue
    const started = await updateRunIf(space, run.id, (runs) =>
      admitted(runs) ? { status: "running" } : undefined,
    )
    if (started) return true
  }
  return false
}

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error))
