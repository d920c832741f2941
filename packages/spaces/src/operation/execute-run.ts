/**
 * Carries out one run from its first event to its last, in the process that owns it. Whatever happens in between, the run
 * gets an end; only a SIGKILL can prevent that, and then the next command of anybody writes it.
 */
import { existsSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Failure, harnessSessionId, type RunId } from "@meridian/protocol"

import { mayRun } from "../domain/admission.ts"
import { LIMIT } from "../domain/limit.ts"
import { wholePrompt } from "../domain/prompt-text.ts"
import { decideRetry } from "../domain/retry.ts"
import { isEnded, sessionUsageIn, type Run, type RunEnd, type RunUpdate } from "../domain/run.ts"
import type { Harness, LaunchPlan, SessionChoice, Usage, Verdict } from "../port/harness.ts"
import { startChat, stopChat, updateChat, type OpenChat } from "../store/chat-store.ts"
import { attemptLogs, runPlace, spacePlace, type RunPlace, type SpacePlace } from "../store/place.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { beginRun, endRun, readRuns, updateRun, updateRunIf, type OpenRun } from "../store/run-store.ts"
import { runEnvironment } from "./child-environment.ts"
import { runAttempt } from "./run-attempt.ts"
import type { RunPlan } from "./run-plan.ts"
import { harnessesOf, isoTime, openState, ownMark, type State } from "./state.ts"
import { openStopper, type Stopper } from "./stop-source.ts"
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
  const finish = (outcome: Outcome): RunEnd => ({
    ...outcome,
    finishedAt: state.now(),
    durationSecs: Math.round(world.clock.now() - startedMs) / 1000,
    by: "worker",
  })
  let end: RunEnd | undefined
  try {
    onBegun(run.id)
    end = finish((await queue(context)) ? await converse(context) : stopped(stopper))
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
  }
}

interface RunContext {
  readonly plan: RunPlan
  readonly world: World
  readonly state: State
  readonly space: SpacePlace
  readonly harness: Harness
  readonly run: OpenRun
  readonly files: RunPlace
  readonly stopper: Stopper
}

type Outcome = Omit<RunEnd, "finishedAt" | "durationSecs" | "by">

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
    prompt: wholePrompt({ instructions: told ? (launch.instructions ?? "") : "", prompt }),
    params: { ...params, effort: launch.effort, permission: launch.permission, params: launch.params },
    start: (id, others) => {
      const open = others.filter((other) => !isEnded(other))
      const self = { id, status: "queued" as const, parentRunId: plan.parent }
      return {
        id,
        status: mayRun([...open, self], id, plan.policy.maxParallel) ? "running" : "queued",
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
  while (!stopper.signal.aborted) {
    await world.clock.sleep(LIMIT.pollMs, stopper.signal)
    world.progress(`Run ${run.id} is queued.`)
    // Without the lock first: most looks end here. The dead among the others would be waited for without end.
    if (!admitted(await settleRuns(space, readRuns(space, state.onDamage), state))) continue
    const started = await updateRunIf(space, run.id, (runs) =>
      admitted(runs) ? { status: "running" } : undefined,
    )
    if (started) return true
  }
  return false
}

const converse = async (context: RunContext): Promise<Outcome> => {
  const { plan, state, space, run, stopper } = context
  const chat = await startChat(state.place, space, {
    chatId: plan.ownChat,
    harness: plan.harness,
    harnessSessionId: plan.session.kind === "continue" ? plan.session.id : "",
    model: plan.model,
    agent: plan.agent?.name,
    agentPath: plan.agent?.path,
    skills: run.start.skills,
    skillPaths: run.start.skillPaths,
    params: plan.launch.params ?? [],
    cwd: plan.cwd,
    runId: run.id,
    startedAt: state.now(),
    holder: ownMark(),
  })
  try {
    stopper.startTimeout(plan.timeoutSecs)
    return await attemptUntilSettled(context, chat)
  } finally {
    await stopChat(space, chat, state.now())
  }
}

const attemptUntilSettled = async (context: RunContext, chat: OpenChat): Promise<Outcome> => {
  const { plan, world, stopper } = context
  for (let attempt = 1; ; attempt += 1) {
    if (stopper.signal.aborted) return { ...stopped(stopper), attempts: attempt - 1 }
    const verdict = await attemptOnce(context, chat, attempt)
    keepReport(context.files, verdict)
    const retry = decideRetry({ attempt, transient: verdict.failure?.transient === true }, plan.policy)
    if (retry.tag === "stop" || stopper.signal.aborted) return outcomeOf(verdict, stopper, attempt)
    world.progress(`Attempt ${attempt} failed (${verdict.failure?.class ?? ""}), trying again.`)
    putReportAside(context.files, attempt)
    await world.clock.sleep(retry.delayMs, stopper.signal)
  }
}

const attemptOnce = async (context: RunContext, chat: OpenChat, attempt: number): Promise<Verdict> => {
  const { plan, world, state, space, harness, run, files, stopper } = context
  const launch = planAttempt(context)
  const before = await usageBefore(context)
  let known = run.start.harnessSessionId
  let writes: Promise<void> = Promise.resolve()
  /** In the order things became known, one after the other, while the harness works on. */
  const record = (update: RunUpdate): void => {
    const id = update.harnessSessionId === known ? undefined : update.harnessSessionId
    if (id === undefined && update.harnessProcess === undefined) return
    known = id ?? known
    const write = async (): Promise<void> => {
      await updateRun(space, run.id, { ...update, harnessSessionId: id })
      if (id !== undefined) await updateChat(space, chat.chatId, id)
    }
    writes = writes.then(write)
    // Looked at when the attempt has ended; until then a failed write must not be an unhandled one.
    writes.catch(() => undefined)
  }
  const verdict = await runAttempt({
    plan: launch,
    harness: harness.name,
    environment: runEnvironment({
      env: world.env,
      place: state.place,
      space,
      chat: chat.chatId,
      plan: launch,
      run: run.id,
      depth: plan.depth,
      report: files.report,
    }),
    parser: harness.parser({
      continued: plan.session.kind !== "new",
      ...(before === undefined ? {} : { usageBefore: before }),
    }),
    files: { ...attemptLogs(files, attempt), events: files.events },
    clock: world.clock,
    killGraceMs: plan.policy.killGraceMs,
    stop: stopper,
    onStarted: (process) => {
      record({ harnessProcess: process, attempt, harnessSessionId: launch.harnessSessionId })
    },
    onEvent: (event) => {
      if (event.type === "session") record({ harnessSessionId: event.harnessSessionId })
      if (event.type === "text" || event.type === "tool.started")
        world.progress(`Run ${run.id}: ${event.type}`)
    },
  }).finally(() => writes)
  record({ harnessSessionId: verdict.harnessSessionId })
  await writes
  return verdict
}

/** What the session had used up already: as the harness tells it, else as its last run with us left it. */
const usageBefore = async ({
  plan,
  world,
  state,
  space,
  harness,
}: RunContext): Promise<Usage | undefined> => {
  const { session } = plan
  if (session.kind === "new") return undefined
  const told = await harness.usageBefore({ id: session.id, environment: world.env })
  const recorded =
    told === undefined ? sessionUsageIn(readRuns(space, state.onDamage), session.id) : undefined
  if (recorded === undefined) return told
  return {
    inputTokens: recorded.inputTokens ?? 0,
    cachedInputTokens: recorded.cachedInputTokens ?? 0,
    outputTokens: recorded.outputTokens ?? 0,
  }
}

const planAttempt = ({ plan, world, harness, files }: RunContext): LaunchPlan => {
  // A chosen id can be used once: every attempt at a new conversation chooses another.
  const chosen = world.uuid()
  const session: SessionChoice =
    plan.session.kind === "continue"
      ? { kind: "continue", id: harnessSessionId(plan.session.id) }
      : plan.session.kind === "fork"
        ? { kind: "fork", id: harnessSessionId(plan.session.id), chosen }
        : { kind: "new", chosen }
  return harness.launch({
    ...plan.launch,
    mode: "headless",
    cwd: plan.cwd,
    environment: world.env,
    session,
    prompt: plan.prompt,
    scratch: files.scratch,
  })
}

/** What the agent wrote itself is its report; otherwise the last thing it said. */
const keepReport = (files: RunPlace, verdict: Verdict): void => {
  if ((statSync(files.report, { throwIfNoEntry: false })?.size ?? 0) > 0 || verdict.report === undefined)
    return
  const bytes = Buffer.from(verdict.report).subarray(0, LIMIT.reportBytes)
  writeFileSync(files.report, `${bytes.toString("utf8").trimEnd()}\n`)
}

const putReportAside = (files: RunPlace, attempt: number): void => {
  if (existsSync(files.report))
    renameSync(files.report, join(files.directory, `report.attempt-${attempt}.md`))
}

const outcomeOf = (verdict: Verdict, stopper: Stopper, attempts: number): Outcome => {
  const usage = {
    inputTokens: verdict.usage?.inputTokens,
    cachedInputTokens: verdict.usage?.cachedInputTokens,
    outputTokens: verdict.usage?.outputTokens,
    costUsd: verdict.usage?.costUsd,
    sessionUsage: verdict.sessionUsage,
  }
  // Stopped after it had succeeded is a success; anything else that was stopped was stopped.
  if (verdict.status === "succeeded") return { status: "succeeded", exitCode: 0, attempts, ...usage }
  if (stopper.reason() !== undefined) return { ...stopped(stopper), attempts, ...usage }
  // Somebody else ended the harness by a signal.
  if (verdict.status === "cancelled")
    return { status: "cancelled", exitCode: 143, error: "cancelled", attempts, ...usage }
  return {
    status: "failed",
    exitCode: verdict.failure?.class === "invalid_launch" ? 2 : 1,
    error: verdict.failure?.class ?? "unclassified",
    message: verdict.failure?.message,
    attempts,
    ...usage,
  }
}

const stopped = (stopper: Stopper): Outcome =>
  stopper.reason() === "timeout"
    ? { status: "failed", exitCode: 3, error: "timeout", message: "The run took longer than its timeout." }
    : { status: "cancelled", exitCode: stopper.exitCode(), error: "cancelled" }

const loadHarness = async (plan: RunPlan, world: World): Promise<Harness> => {
  const entry = harnessesOf(world).find((candidate) => candidate.id === plan.harness)
  if (entry === undefined) throw new Failure("HARNESS_UNKNOWN", { harness: plan.harness })
  return await entry.load()
}

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error))
