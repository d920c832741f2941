/**
 * What the next attempt says, and in which conversation. A conversation that knows the task is told only what
 * happened. A new one gets the whole prompt and, if others have worked on the task before, what they did.
 */
import { existsSync } from "node:fs"

import { harnessSessionId } from "@meridian/protocol"

import { nextMessage, resumeNote, takeoverNote, type Resumption } from "../domain/resume-note.ts"
import type { RunSpent } from "../domain/run-caps.ts"
import { ownAttempts, type Run } from "../domain/run.ts"
import { readDocument, replaceFile } from "../store/document.ts"
import { handoverFile } from "../store/place.ts"
import type { SentWords } from "../store/run-inbox.ts"
import { noteNotice, noticeOf } from "./attempt-words.ts"
import { launchEnvironment } from "./launcher.ts"
import type { AttemptLaunch } from "./make-attempt.ts"
import { spentBy } from "./run-budget.ts"
import type { Leg } from "./run-context.ts"
import type { HeldSession, RunPlan } from "./run-plan.ts"
import { sessionFor } from "./session-choice.ts"
import { harnessEntry } from "./state.ts"

/** What the next attempt begins with, besides the log. */
export interface Before {
  readonly resumption: Resumption | undefined
  readonly begin: "go-on" | "anew"
}

export const launchOf = async (
  leg: Leg,
  { resumption, begin }: Before,
  words: readonly SentWords[],
): Promise<AttemptLaunch> => {
  const { plan, harness, world } = leg
  const sent = harness.steering === "step" ? [] : words.map(({ text }) => text)
  const run = leg.read()
  const attempts = ownAttempts(run)
  const isTold = await isToldAlready(leg, run)
  const { session, isUntold } = sessionFor({ plan, attempts, harness, begin, isTold, uuid: world.uuid })
  const budget = tellBudget(leg, run)
  if (!isUntold) {
    const note = resumption === undefined ? undefined : resumeNote(resumption)
    return { session, prompt: nextMessage({ note, words: [...sent, ...budget] }), words }
  }
  const sessions =
    session.kind === "new" ? heldBefore(plan, run).filter(({ id }) => id !== session.chosen) : []
  const note =
    begin === "anew" ? resumeNote("anew") : sessions.length === 0 ? undefined : takeoverNote(fromOf(leg, run))
  const done = sessions.length === 0 ? [] : await whatWasDone(leg, { run, sessions, begin })
  return { session, prompt: nextMessage({ note, words: [...done, plan.prompt, ...sent, ...budget] }), words }
}

/**
 * Tells budget marks in a message: to a harness that cannot be told during its work, and whenever a message is sent
 * anyway. Recorded before it is said, so it is told at most once.
 */
const tellBudget = (leg: Leg, run: Run): readonly string[] => {
  const { plan, harness, space, state, world } = leg
  if (harness.steering === "step") return []
  const sum = (): RunSpent => spentBy(run, plan.caps, { space, state, nowMs: world.clock.now() })
  const notice = noticeOf(leg, { sum })
  if (notice === undefined) return []
  noteNotice(leg, notice)
  return [notice.text]
}

/** After a limit in the first turn, nothing was answered, but the conversation may hold the prompt. */
const isToldAlready = async ({ harness, world }: Leg, run: Run): Promise<boolean> => {
  const last = ownAttempts(run).at(-1)
  if (last?.harnessSessionId === undefined || !ASKED_PROVIDER.has(last.why ?? "")) return false
  const id = harnessSessionId(last.harnessSessionId)
  return (await harness.holdsPrompt?.({ id, environment: launchEnvironment(world) })) ?? false
}

/** Failures that only a request with the prompt in it can meet. */
const ASKED_PROVIDER: ReadonlySet<string> = new Set(["rate_limit", "overload", "server_error", "connection"])

/** Composed once for all attempts of this harness, so that a retry says the same. */
const whatWasDone = async (
  { plan, world, files, space, state }: Leg,
  about: { readonly run: Run; readonly sessions: readonly HeldSession[]; readonly begin: Before["begin"] },
): Promise<readonly string[]> => {
  const { run, sessions, begin } = about
  const own = begin === "anew" ? 0 : ownAttempts(run).length
  const file = handoverFile(files, run.attempts.length - own + 1)
  if (!existsSync(file)) {
    const told = await world.handover?.({
      sessions,
      cwd: plan.cwd,
      task: plan.firstTask ?? plan.task,
      env: {
        ...launchEnvironment(world),
        MERIDIAN_STATE_ROOT: state.place.root,
        MERIDIAN_SPACE_ID: space.id,
      },
    })
    replaceFile(file, `${told ?? ""}\n`)
  }
  const told = readDocument(file)?.trim() ?? ""
  // Without a handover we only have the first words of the conversation.
  return told === "" ? (plan.firstTask === undefined ? [] : [plan.firstTask]) : [told]
}

/**
 * Oldest first, without duplicates: the conversations the plan names, then those in which attempts of this run made
 * progress.
 */
const heldBefore = (plan: RunPlan, run: Run): readonly HeldSession[] => {
  const own = run.attempts.flatMap(
    ({ harness, harnessSessionId: id, madeProgress }): readonly HeldSession[] =>
      id === undefined || madeProgress !== true
        ? []
        : [{ harness: harness === "" ? run.harness : harness, id }],
  )
  const all = new Map([...(plan.earlier ?? []), ...own].map((held) => [`${held.harness} ${held.id}`, held]))
  return [...all.values()]
}

const fromOf = (leg: Leg, run: Run): { readonly from: string; readonly why: string | undefined } => {
  const before = run.attempts.findLast(({ harness }) => harness !== "" && harness !== run.harness)
  const from = before?.harness ?? leg.plan.earlier?.at(-1)?.harness ?? ""
  return { from: harnessEntry(leg.world, from)?.name ?? from, why: before?.why }
}
