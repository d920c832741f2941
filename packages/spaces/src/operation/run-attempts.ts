/** The attempts of a run: its chat is recorded, its harness is started, and again after failures that pass by themselves. */
import { existsSync, lstatSync, renameSync } from "node:fs"
import { join } from "node:path"

import { harnessSessionId } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { decideRetry } from "../domain/retry.ts"
import { sessionUsageIn, type RunUpdate } from "../domain/run.ts"
import { pinnedTask } from "../domain/task.ts"
import type {
  Harness,
  HarnessEvent,
  LaunchPlan,
  LaunchRequest,
  SessionChoice,
  Usage,
  Verdict,
} from "../port/harness.ts"
import { startChat, stopChat, updateChat, type OpenChat } from "../store/chat-store.ts"
import { replaceFile } from "../store/document.ts"
import { attemptLogs, type RunPlace, type SpacePlace } from "../store/place.ts"
import { readRuns, updateRun, type OpenRun } from "../store/run-store.ts"
import { runEnvironment } from "./child-environment.ts"
import { runHarness } from "./harness-process.ts"
import { launchEnvironment } from "./launcher.ts"
import { lookingGit } from "./looking-git.ts"
import { addUsage, outcomeOf, stopped, type Outcome } from "./run-outcome.ts"
import type { RunPlan } from "./run-plan.ts"
import { openSeal } from "./seal.ts"
import { ownMark, type State } from "./state.ts"
import type { Stopper } from "./stop-source.ts"
import type { World } from "./world.ts"

export interface RunContext {
  readonly plan: RunPlan
  readonly world: World
  readonly state: State
  readonly space: SpacePlace
  readonly harness: Harness
  readonly run: OpenRun
  readonly files: RunPlace
  readonly stopper: Stopper
}

export const attemptUntilEnded = async (context: RunContext): Promise<Outcome> => {
  const { plan, state, space, run, stopper, world } = context
  const seal = await openSeal(space.id, state, world)
  const chat = await startChat(
    state.place,
    space,
    {
      chatId: plan.ownChat,
      harness: plan.harness,
      harnessSessionId: plan.session.kind === "continue" ? plan.session.id : "",
      model: plan.model,
      agent: plan.agent?.name,
      agentPath: plan.agent?.path,
      skills: run.start.skills,
      skillPaths: run.start.skillPaths,
      params: plan.launch.params ?? [],
      tier: plan.launch.permission,
      cwd: plan.cwd,
      runId: run.id,
      task: pinnedTask({ task: plan.task, first: plan.firstTask, file: context.files.task }),
      startedAt: state.now(),
      holder: ownMark(),
    },
    seal,
  )
  try {
    stopper.startTimeout(plan.timeoutSecs)
    return await attemptUntilSettled(context, chat)
  } finally {
    await stopChat(space, chat, state.now())
  }
}

const attemptUntilSettled = async (context: RunContext, chat: OpenChat): Promise<Outcome> => {
  const { plan, world, stopper } = context
  const choose = sessionChooser(context)
  let used: Usage | undefined
  for (let attempt = 1; ; attempt += 1) {
    if (stopper.signal.aborted) return { ...stopped(stopper), ...used }
    const verdict = await attemptOnce(context, { chat, attempt, session: choose() })
    used = addUsage(used, verdict.usage)
    keepReport(context.files, verdict)
    const retry = decideRetry({ attempt, transient: verdict.failure?.transient === true }, plan.policy)
    if (retry.tag === "stop" || stopper.signal.aborted) return outcomeOf({ verdict, used, stopper })
    world.progress(`Attempt ${attempt} failed (${verdict.failure?.class ?? ""}), trying again.`)
    putReportAside(context.files, attempt)
    await world.clock.sleep(retry.delayMs, stopper.signal)
  }
}

/** Events that show that the agent said or did something. */
const PROGRESS: ReadonlySet<HarnessEvent["type"]> = new Set(["text", "tool.started", "tool.ended", "file"])

interface Attempt {
  readonly chat: OpenChat
  readonly attempt: number
  readonly session: SessionChoice
}

const attemptOnce = async (context: RunContext, { chat, attempt, session }: Attempt): Promise<Verdict> => {
  const { plan, world, state, space, harness, run, files, stopper } = context
  const env = launchEnvironment(world)
  const continuity = await world.continuity?.({ harness: harness.id, cwd: plan.cwd, env })
  const launch = planAttempt(context, {
    session,
    environment: env,
    ...(continuity === undefined ? {} : { continuity }),
  })
  const before = await usageBefore(context)
  let known = run.start.harnessSessionId
  let madeProgress = false
  let writes: Promise<void> = Promise.resolve()
  /** In the order things became known, one after the other, while the harness works on. */
  const record = (update: RunUpdate): void => {
    const id = update.harnessSessionId === known ? undefined : update.harnessSessionId
    if (id === undefined && update.attemptBegan === undefined && update.attemptEnded === undefined) return
    known = id ?? known
    const write = async (): Promise<void> => {
      await updateRun(space, run.id, { ...update, harnessSessionId: id })
      if (id !== undefined) await updateChat(space, chat.chatId, id)
    }
    writes = writes.then(write)
    // Looked at when the attempt has ended; until then a failed write must not be an unhandled one.
    writes.catch(() => undefined)
  }
  const verdict = await runHarness({
    plan: launch,
    harness: harness.name,
    environment: runEnvironment({
      env,
      git: await lookingGit(plan.launch.permission, { cwd: launch.cwd, env }),
      place: state.place,
      space,
      chat: chat.chatId,
      plan: launch,
      tier: plan.launch.permission,
      run: run.id,
      depth: plan.depth,
      report: files.report,
    }),
    locks: [run.lock.descriptor, chat.lock.descriptor],
    parser: harness.parser({
      continued: plan.session.kind !== "new",
      ...(before === undefined ? {} : { usageBefore: before }),
    }),
    files: { ...attemptLogs(files, attempt), events: files.events },
    clock: world.clock,
    killGraceMs: plan.policy.killGraceMs,
    stop: stopper,
    onStarted: (process) => {
      record({
        harnessProcess: process,
        harnessSessionId: launch.harnessSessionId,
        attemptBegan: {
          number: attempt,
          harness: plan.harness,
          model: plan.model === "" ? undefined : plan.model,
          harnessSessionId: launch.harnessSessionId,
          began: state.now(),
        },
      })
    },
    onEvent: (event) => {
      if (event.type === "session") record({ harnessSessionId: event.harnessSessionId })
      madeProgress ||= PROGRESS.has(event.type)
      if (event.type === "text" || event.type === "tool.started")
        world.progress(`Run ${run.id}: ${event.type}`)
    },
  }).finally(() => writes)
  record({
    harnessSessionId: verdict.harnessSessionId,
    attemptEnded: {
      number: attempt,
      ended: state.now(),
      why: verdict.failure?.class ?? verdict.status,
      message: verdict.failure?.message,
      madeProgress,
      ...verdict.usage,
    },
  })
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

/**
 * A chosen id can be used once with most harnesses, so every attempt at a new conversation chooses another. One that reopens
 * the session goes on with what the attempt before has done.
 */
const sessionChooser = ({ plan, world, harness }: RunContext): (() => SessionChoice) => {
  let chosen: string | undefined
  return () => {
    if (plan.session.kind === "continue") return { kind: "continue", id: harnessSessionId(plan.session.id) }
    if (!harness.capabilities.reopenSession) chosen = undefined
    chosen ??= world.uuid()
    return plan.session.kind === "fork"
      ? { kind: "fork", id: harnessSessionId(plan.session.id), chosen }
      : { kind: "new", chosen }
  }
}

const planAttempt = (
  { plan, harness, files }: RunContext,
  attempt: Pick<LaunchRequest, "session" | "environment" | "continuity">,
): LaunchPlan =>
  harness.launch({
    ...plan.launch,
    ...attempt,
    mode: "headless",
    cwd: plan.cwd,
    prompt: plan.prompt,
    scratch: files.scratch,
  })

/** What the agent wrote itself is its report; otherwise the last thing it said. */
const keepReport = (files: RunPlace, verdict: Verdict): void => {
  const own = lstatSync(files.report, { throwIfNoEntry: false })
  if ((own?.isFile() === true && own.size > 0) || verdict.report === undefined) return
  const bytes = Buffer.from(verdict.report).subarray(0, LIMIT.reportBytes)
  // Replaced, not written into: what the agent put there may be a link.
  replaceFile(files.report, `${bytes.toString("utf8").trimEnd()}\n`)
}

const putReportAside = (files: RunPlace, attempt: number): void => {
  if (existsSync(files.report))
    renameSync(files.report, join(files.directory, `report.attempt-${attempt}.md`))
}
