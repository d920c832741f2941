/**
 * Carries out one run from its first event to its last, in the process that owns it. Whatever happens in between, the run
 * gets an end; only a SIGKILL can prevent that, and then the next command of anybody writes it.
 */
import { Failure, type RunId } from "@meridian/protocol"

import { mayRun } from "../domain/admission.ts"
import { LIMIT } from "../domain/limit.ts"
import { wholePrompt } from "../domain/prompt-text.ts"
import { isEnded, type Run, type RunEnd } from "../domain/run.ts"
import { recordedTask } from "../domain/task.ts"
import { isAbove } from "../domain/tier.ts"
import type { Harness } from "../port/harness.ts"
import { runPlace, spacePlace, type SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { beginRun, endRun, logWatch, readRuns, updateRunIf, type OpenRun } from "../store/run-store.ts"
import { notify } from "./notify.ts"
import { parentTier } from "./parent.ts"
import { attemptUntilEnded, type RunContext } from "./run-attempts.ts"
import { taskOf } from "./run-look.ts"
import { stopped, type Outcome } from "./run-outcome.ts"
import type { RunPlan } from "./run-plan.ts"
import { harnessesOf, isoTime, openState, ownMark, type State } from "./state.ts"
import { openStopper } from "./stop-source.ts"
import type { World } from "./world.ts"

export interface FinishedRun {
  readonly id: RunId
  readonly end: RunEnd
}

export const executeRun = async (
  plan: RunPlan,
  world: World,
  onBegun: (id: RunId) => void = () => undefined,
): Promise<FinishedRun> => {
  const state = openState(world)
  const space = spacePlace(state.place, plan.space)
  requireParent(plan, state, world)
  const harness = await loadHarness(plan, world)
  const startedMs = world.clock.now()
  const run = await begin({ plan, state, space, startedMs })
  const stopper = openStopper(world)
  const context: RunContext = {
    plan,
    world,
    state,
    space,
    harness,
    run,
    files: runPlace(space, run.id),
    stopper,
  }
  /** Its time in the queue is not work. */
  let workingSince = startedMs
  const finish = (outcome: Outcome): RunEnd => ({
    ...outcome,
    finishedAt: state.now(),
    durationSecs: Math.round(world.clock.now() - workingSince) / 1000,
    by: "worker",
  })
  let end: RunEnd | undefined
  try {
    onBegun(run.id)
    const isAdmitted = await queue(context)
    workingSince = world.clock.now()
    end = finish(isAdmitted ? await attemptUntilEnded(context) : stopped(stopper))
    return { id: run.id, end }
  } catch (error) {
    if (error instanceof Failure && error.code === "SPACE_CLOSED") {
      // Somebody closed the space after the run had begun: that ends it like any other cancel.
      end = finish({ status: "cancelled", exitCode: 143, error: "cancelled", message: error.message })
      return { id: run.id, end }
    }
    end = finish({ status: "failed", exitCode: 2, error: "infrastructure", message: sentence(error) })
    throw error
  } finally {
    if (end !== undefined) await endRun(space, run, end)
    // Only now: while somebody listens, a second signal cannot end this process before the end is written.
    stopper.close()
    if (end !== undefined) await tellEnd(context, end)
  }
}

/** A run that another run started is that one's business. */
const tellEnd = async ({ plan, space, run, world }: RunContext, end: RunEnd): Promise<void> => {
  if (plan.parent !== undefined) return
  const task = taskOf(space, run)
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

/** Whoever made the plan has decided that already; a plan that somebody else made is held to it all the same. */
const requireParent = ({ space, launch }: RunPlan, state: State, world: World): void => {
  const parent = parentTier(space, state, world)
  const wished = launch.permission ?? "read-only"
  if (parent !== undefined && isAbove(wished, parent))
    throw new Failure("TIER_ABOVE_PARENT", { wished, parent })
}

const begin = (options: {
  readonly plan: RunPlan
  readonly state: State
  readonly space: SpacePlace
  readonly startedMs: number
}): Promise<OpenRun> => {
  const { plan } = options
  const { prompt, launch, policy: _, ...params } = plan
  const told = plan.session.kind === "new" || launch.instructionsChanged === true
  return beginRun(options.state.place, options.space, {
    longTask: recordedTask(plan.task) === plan.task ? undefined : plan.task,
    prompt: wholePrompt({ instructions: told ? (launch.instructions ?? "") : "", prompt }),
    params: { ...params, effort: launch.effort, permission: launch.permission, params: launch.params },
    start: (id, others) => {
      const open = others.filter((other) => !isEnded(other))
      const self = { id, status: "queued" as const, parentRunId: plan.parent }
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
        cwd: plan.cwd,
        background: plan.background,
        timeoutSecs: plan.timeoutSecs,
        startedAt: isoTime(options.startedMs),
        worker: ownMark(),
      }
    },
  })
}

/** Waits for a place among the runs that may work at once. False when it was stopped while waiting. */
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
    // Without the lock first: most looks end here. The dead among the others would be waited for without end.
    if (!admitted(await settleRuns(space, readRuns(space, state.onDamage), state))) continue
    const started = await updateRunIf(space, run.id, (runs) =>
      admitted(runs) ? { status: "running" } : undefined,
    )
    if (started) return true
  }
  return false
}

const loadHarness = async (plan: RunPlan, world: World): Promise<Harness> => {
  const entry = harnessesOf(world).find((candidate) => candidate.id === plan.harness)
  if (entry === undefined) throw new Failure("HARNESS_UNKNOWN", { harness: plan.harness })
  return await entry.load()
}

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error))
