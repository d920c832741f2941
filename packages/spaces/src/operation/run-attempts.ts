/**
 * The attempts of a run, one after the other, until it ends or is put aside: its chat is recorded, its harness started, and
 * what follows each attempt is decided (`domain/after-attempt.ts`). Everything that the next attempt needs is in the log of the
 * run, so it makes no difference which process makes it.
 */
import { existsSync, lstatSync, renameSync } from "node:fs"
import { join } from "node:path"

import { readResetTime } from "@meridian/protocol"

import { decideNext, type Next } from "../domain/after-attempt.ts"
import { LIMIT } from "../domain/limit.ts"
import { nextMessage, resumeNote, type Resumption } from "../domain/resume-note.ts"
import { fruitlessAttempts, type Run } from "../domain/run.ts"
import { pinnedTask } from "../domain/task.ts"
import type { HarnessFailure, Verdict } from "../port/harness.ts"
import { readChats, startChat, stopChat, type OpenChat } from "../store/chat-store.ts"
import { replaceFile } from "../store/document.ts"
import type { RunPlace } from "../store/place.ts"
import { takeWords, waitingWords } from "../store/run-inbox.ts"
import { updateRun } from "../store/run-store.ts"
import { makeAttempt, type AttemptLaunch } from "./make-attempt.ts"
import type { RunContext } from "./run-context.ts"
import { outcomeOf, stopped, usageOf, type Outcome } from "./run-outcome.ts"
import { openSeal } from "./seal.ts"
import { sessionFor } from "./session-choice.ts"
import { isoTime, ownMark } from "./state.ts"
import { untilAsked } from "./until-asked.ts"

export type Settled =
  | { readonly tag: "ended"; readonly outcome: Outcome }
  /** Nothing more happens until a person says so; the run keeps its place in the log. */
  | { readonly tag: "paused" }

export const attemptUntilEnded = async (context: RunContext): Promise<Settled> => {
  const { plan, state, space, run, stopper, world } = context
  const seal = await openSeal(space.id, state, world)
  const chats = readChats(space, state.onDamage)
  const session = run.start.harnessSessionId ?? (plan.session.kind === "continue" ? plan.session.id : "")
  const chat = await startChat(
    state.place,
    space,
    {
      chatId: plan.ownChat ?? chats.findLast((record) => record.runId === run.id)?.chatId,
      harness: plan.harness,
      harnessSessionId: session,
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
    return await goOn(context, chat)
  } finally {
    await stopChat(space, chat, state.now())
  }
}

/** What the next attempt begins with, besides what is in the log. */
interface Before {
  readonly resumption: Resumption | undefined
  readonly begin: "go-on" | "anew"
}

const goOn = async (context: RunContext, chat: OpenChat): Promise<Settled> => {
  const { world, stopper, space, run, files } = context
  let before: Before = { resumption: context.resumption, begin: "go-on" }
  for (;;) {
    const now = context.read()
    if (stopper.signal.aborted)
      return { tag: "ended", outcome: { ...stopped(stopper), ...usageOf(now.attempts) } }
    const words = waitingWords(files)
    const verdict = await makeAttempt(context, { chat, ...launchOf(context, now, before, words) })
    takeWords(files, words.length)
    keepReport(files, verdict)
    const after = context.read()
    const isPaused = after.asked === "pause" && verdict.status !== "succeeded"
    const next = isPaused ? PAUSE : decide(context, after, verdict)
    switch (next.tag) {
      case "end":
        return { tag: "ended", outcome: outcomeOf({ verdict, used: usageOf(after.attempts), stopper }) }
      case "pause":
        await updateRun(space, run.id, { status: "paused", at: isoTime(world.clock.now()) })
        return { tag: "paused" }
      case "ask":
        await updateRun(space, run.id, {
          status: "paused",
          waitingFor: "question",
          waitingUntil: isoTime(Math.min(next.untilMs, LATEST_MS)),
          message: `The limit ends in more than seven days: ${verdict.failure?.message ?? ""}`,
        })
        return { tag: "paused" }
      case "wait": {
        await updateRun(space, run.id, {
          status: "waiting",
          waitingFor: "limit",
          waitingUntil: isoTime(next.untilMs),
          message: verdict.failure?.message,
        })
        putReportAside(files, after.attempts.length)
        if ((await untilAsked(context, next.untilMs)) === "pause") {
          await updateRun(space, run.id, { status: "paused" })
          return { tag: "paused" }
        }
        if (!stopper.signal.aborted) await updateRun(space, run.id, { status: "running" })
        before = { resumption: "limit", begin: "go-on" }
        break
      }
      case "again":
        world.progress(
          `Attempt ${after.attempts.length} failed (${verdict.failure?.class ?? ""}), trying again.`,
        )
        putReportAside(files, after.attempts.length)
        await world.clock.sleep(next.delayMs, stopper.signal)
        before = { resumption: verdict.failure?.class === "crashed" ? "crashed" : "failed", begin: "go-on" }
        break
      case "anew":
        world.warn("SESSION_BEGUN_ANEW", { run: run.id, harness: context.harness.name })
        before = { resumption: "anew", begin: "anew" }
        break
      case "deliver":
        putReportAside(files, after.attempts.length)
        before = { resumption: undefined, begin: "go-on" }
        break
    }
  }
}

const PAUSE = { tag: "pause" } as const

/** Dates end somewhere; a reset in 400 years is told as the last we can write. */
const LATEST_MS = Date.parse("9999-12-31T00:00:00.000Z")

const decide = (
  { plan, world, stopper, files }: RunContext,
  run: Run,
  { status, failure }: Verdict,
): Next => {
  const nowMs = world.clock.now()
  const tries = Math.max(1, fruitlessAttempts(run))
  const first = run.attempts.at(-tries)
  return decideNext(
    {
      failure: status === "failed" ? (failure?.class ?? "unclassified") : undefined,
      resetMs: failure === undefined ? undefined : resetOf(failure, nowMs),
      // Somebody else ended the harness by a signal: that is a wish, too.
      isStopped: stopper.signal.aborted || status === "cancelled",
      hasWords: waitingWords(files).length > 0,
      mayBeginAnew: plan.session.kind === "new" && run.attempts.length > 1,
      tries,
      failingSinceMs: Date.parse(first?.began ?? "") || nowMs,
      nowMs,
    },
    plan.policy,
  )
}

const resetOf = (failure: HarnessFailure, nowMs: number): number | undefined => {
  if (failure.resetAtMs !== undefined) return failure.resetAtMs
  if (failure.retryAfterMs !== undefined) return nowMs + failure.retryAfterMs
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return readResetTime(failure.message, { nowMs, zone: timeZone })
}

const launchOf = (
  { plan, harness, world }: RunContext,
  run: Run,
  { resumption, begin }: Before,
  words: readonly string[],
): AttemptLaunch => {
  const choice = sessionFor({ plan, attempts: run.attempts, harness, begin, uuid: world.uuid })
  if (choice.isUntold)
    return {
      session: choice.session,
      prompt:
        begin === "anew"
          ? nextMessage({ note: resumeNote("anew"), words: [plan.prompt, ...words] })
          : nextMessage({ words: [plan.prompt, ...words] }),
    }
  const note = resumption === undefined ? undefined : resumeNote(resumption)
  return { session: choice.session, prompt: nextMessage({ note, words }) }
}

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
