/** One attempt of a run: planned, started, watched, and recorded as facts become known. */
import { oneLine, type RunId } from "@meridian/protocol"

import { NOTHING_SPENT, restOf, sayBreach, type RunSpent } from "../domain/run-caps.ts"
import { sessionUsageIn, type RunUpdate } from "../domain/run.ts"
import { failureOf } from "../harness/classify.ts"
import type { HarnessFailure, SessionChoice, Usage, Verdict } from "../port/harness.ts"
import { updateChat, type OpenChat } from "../store/chat-store.ts"
import { attemptLogs, type SpacePlace } from "../store/place.ts"
import { noteTold, readTold, type SentWords } from "../store/run-inbox.ts"
import { readRuns, updateRun } from "../store/run-store.ts"
import { openAttemptSpending } from "./attempt-spending.ts"
import { openAttemptWords } from "./attempt-words.ts"
import { runEnvironment } from "./child-environment.ts"
import { resetOf } from "./decide-attempt.ts"
import { runHarness } from "./harness-process.ts"
import { launchEnvironment } from "./launcher.ts"
import { lookingGit } from "./looking-git.ts"
import { spentBy } from "./run-budget.ts"
import type { Leg } from "./run-context.ts"
import type { RunPlan } from "./run-plan.ts"
import { ownSandbox, sandboxed } from "./sandboxed-launch.ts"
import { isoTime, LATEST_MS } from "./state.ts"
import { watchAttempt, type AttemptWatch } from "./watch-attempt.ts"

export interface AttemptLaunch {
  readonly session: SessionChoice
  readonly prompt: string
  /** Words sent to the run that this launch tells: in the prompt, or by their numbers. */
  readonly words: readonly SentWords[]
}

export const makeAttempt = async (leg: Leg, { session, prompt, words }: AttemptLaunch): Promise<Verdict> => {
  const { plan, world, state, space, harness, run, files, chat, stopper } = leg
  const env = launchEnvironment(world)
  const continuity = await world.continuity?.({ harness: harness.id, cwd: plan.cwd, env, isRun: true })
  const rest = restOf(plan.caps, spentNow(leg))
  const launch = harness.launch({
    ...plan.launch,
    ...(continuity === undefined ? {} : { continuity }),
    mode: "headless",
    cwd: plan.cwd,
    environment: env,
    session,
    prompt,
    ...(harness.steering === "step" ? { words: words.map(({ number, text }) => ({ number, text })) } : {}),
    scratch: files.scratch,
    ...ownSandbox(plan, harness.id),
    ...(rest === undefined ? {} : { rest }),
  })
  const number = nextNumber(leg)
  const spending = await openAttemptSpending(leg, { attempt: number, session: launch.harnessSessionId })
  const log = openAttemptLog({ space, run: run.id, chat, known: leg.read().harnessSessionId })
  const before = await usageBefore(leg, session)
  using told = openAttemptWords(leg, spending, words.at(-1)?.number ?? readTold(files).told)
  using watch = watchAttempt(leg, { spending, words: told })
  const started = await sandboxed(launch, { plan, harness: harness.id, place: state.place, env })
  const verdict = await runHarness({
    plan: started,
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
      continued: session.kind !== "new",
      ...(before === undefined ? {} : { usageBefore: before }),
    }),
    files: { ...attemptLogs(files, number), events: files.events },
    clock: world.clock,
    killGraceMs: plan.policy.killGraceMs,
    stop: watch.stop,
    onStarted: (process) => {
      watch.started(process)
      log.record({
        harnessProcess: process,
        harnessSessionId: launch.harnessSessionId,
        attemptBegan: {
          number,
          harness: harness.id,
          model: plan.model === "" ? undefined : plan.model,
          harnessSessionId: launch.harnessSessionId,
          began: state.now(),
          unpinned: continuity?.missing === undefined ? undefined : oneLine(continuity.missing, UNPINNED),
        },
      })
    },
    onEvent: (event) => {
      watch.saw(event)
      if (event.type === "waiting")
        log.record(
          event.for === "nothing"
            ? { status: "running" }
            : { status: "waiting", waitingFor: event.for, message: event.message },
        )
      if (event.type === "told") noteTold(files, event.upTo)
      if (event.type === "session") log.record({ harnessSessionId: event.harnessSessionId })
      if (event.type === "text" || event.type === "tool.started")
        world.progress(`Run ${run.id}: ${event.type}`)
    },
  }).finally(() => log.written())
  const judged = judge(verdict, watch, plan)
  await spending.look()
  const { usage, turns, isUnpriced } = spending.used()
  if (isUnpriced) warnUnpriced(leg)
  log.record({
    harnessSessionId: judged.harnessSessionId,
    attemptEnded: {
      number,
      ended: state.now(),
      why: whyEnded(judged, { isPaused: watch.stoppedBy() === "paused", isLeft: stopper.isLeft() }),
      message: judged.failure?.message,
      turns,
      madeProgress: watch.madeProgress(),
      resetAt: toldReset(judged.failure, world.clock.now()),
      ...usage,
    },
  })
  await log.written()
  return judged
}

const UNPINNED = 300

const whyEnded = (
  { status, failure }: Verdict,
  { isPaused, isLeft }: { readonly isPaused: boolean; readonly isLeft: boolean },
): string => {
  if (failure !== undefined) return failure.class
  if (status !== "cancelled") return status
  return isPaused ? "paused" : isLeft ? "worker_died" : status
}

/** Records an attempt for which no harness process could be started. */
export const noteUnstarted = async (leg: Leg, failure: HarnessFailure): Promise<void> => {
  const { space, run, state, harness } = leg
  const number = nextNumber(leg)
  const now = state.now()
  await updateRun(space, run.id, {
    attemptBegan: { number, harness: harness.id, began: now },
    attemptEnded: { number, ended: now, why: failure.class, message: failure.message },
  })
}

const nextNumber = ({ read }: Leg): number => (read().attempts.at(-1)?.number ?? 0) + 1

const toldReset = (failure: HarnessFailure | undefined, nowMs: number): string | undefined => {
  const resetMs = failure === undefined ? undefined : resetOf(failure, nowMs)
  return resetMs === undefined ? undefined : isoTime(Math.min(resetMs, LATEST_MS))
}

/** An attempt we stopped did not fail, unless it had ended on its own. */
const judge = (verdict: Verdict, watch: AttemptWatch, plan: RunPlan): Verdict => {
  if (verdict.status === "succeeded") return verdict
  const breach = watch.breach()
  switch (watch.stoppedBy()) {
    case "stalled":
      return {
        ...verdict,
        status: "failed",
        failure: failureOf("stalled", `No sign of life for ${plan.policy.stallMs / 60_000} minutes.`),
      }
    case "budget":
      return {
        ...verdict,
        status: "failed",
        failure: failureOf("budget", breach === undefined ? "" : sayBreach(breach)),
      }
    case "paused":
    case undefined:
      return verdict
  }
}

/** Spent by the run so far, its tree, its space and the day. */
const spentNow = ({ plan, space, state, world, read }: Leg): RunSpent =>
  spentBy(read(), plan.caps, { space, state, nowMs: world.clock.now() })

/** Tokens were used at an unknown price. */
const warnUnpriced = ({ plan: { caps }, run, world }: Leg): void => {
  if (restOf(caps, NOTHING_SPENT)?.cost !== undefined) world.warn("PRICE_UNKNOWN", { run: run.id })
}

/** Writes in the order things become known, one after the other, while the harness works on. */
const openAttemptLog = ({
  space,
  run,
  chat,
  known: first,
}: {
  readonly space: SpacePlace
  readonly run: RunId
  readonly chat: OpenChat
  readonly known: string | undefined
}): { readonly record: (update: RunUpdate) => void; readonly written: () => Promise<void> } => {
  let known = first
  let writes: Promise<void> = Promise.resolve()
  return {
    record: (update) => {
      const id = update.harnessSessionId === known ? undefined : update.harnessSessionId
      const { attemptBegan, attemptEnded, status } = update
      if ([id, attemptBegan, attemptEnded, status].every((part) => part === undefined)) return
      known = id ?? known
      const write = async (): Promise<void> => {
        await updateRun(space, run, { ...update, harnessSessionId: id })
        if (id !== undefined) await updateChat(space, chat.chatId, id)
      }
      writes = writes.then(write)
      // Awaited when the attempt has ended. Until then a failed write must not be an unhandled rejection.
      writes.catch(() => undefined)
    },
    written: () => writes,
  }
}

/** What the session had used up before: as the harness reports it, else as our last run in it recorded. */
const usageBefore = async (
  { world, state, space, harness }: Leg,
  session: SessionChoice,
): Promise<Usage | undefined> => {
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
