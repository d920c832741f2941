/**
 * The attempts of a run, one after the other, until it ends or is put aside. It records its chat, starts its harness,
 * and decides what follows each attempt (`domain/after-attempt.ts`, `domain/failover.ts`). The run's log has
 * everything the next attempt needs, so any process can make it.
 */
import { Failure } from "@meridian/protocol"

import type { Next } from "../domain/after-attempt.ts"
import type { Resumption } from "../domain/resume-note.ts"
import { breachOf, sayBreach, type RunBreach, type RunCaps } from "../domain/run-caps.ts"
import type { Run } from "../domain/run.ts"
import { pinnedTask } from "../domain/task.ts"
import { failureOf } from "../harness/classify.ts"
import type { Verdict } from "../port/harness.ts"
import { readChats, startChat, stopChat } from "../store/chat-store.ts"
import { noteHanded, waitingWords, type SentWords } from "../store/run-inbox.ts"
import { updateRun } from "../store/run-store.ts"
import { launchOf, type Before } from "./attempt-launch.ts"
import { keepReport, putReportAside } from "./attempt-report.ts"
import { settleWords } from "./attempt-words.ts"
import { decideAttempt } from "./decide-attempt.ts"
import { loadHarness } from "./load-harness.ts"
import { makeAttempt, noteUnstarted } from "./make-attempt.ts"
import { proveRun, type Proven } from "./prove-run.ts"
import { spentBy } from "./run-budget.ts"
import type { Leg, RunContext } from "./run-context.ts"
import { outcomeOf, stopped, usageOf, type Outcome } from "./run-outcome.ts"
import { planFor } from "./run-plan.ts"
import { openSeal } from "./seal.ts"
import { isoTime, LATEST_MS, ownMark } from "./state.ts"
import { readStoredPlan } from "./stored-plan.ts"
import { untilAsked } from "./until-asked.ts"

export type Settled =
  | { readonly tag: "ended"; readonly outcome: Outcome }
  /** Nothing more happens until a person decides. The run stays open in the log. */
  | { readonly tag: "paused" }
  /** This process must exit. The next process that finds the run resumes it. */
  | { readonly tag: "left" }

/** The end of one harness's part: an end of the run, or a place for the next harness. */
type LegEnd = Settled | { readonly tag: "handed-over" }

export const attemptUntilEnded = async (context: RunContext): Promise<Settled> => {
  context.stopper.startTimeout(context.plan.timeoutSecs)
  for (let before: Before = { resumption: context.resumption, begin: "go-on" }; ; before = HANDED_OVER) {
    const settled = await goLeg(context, before)
    if (settled.tag !== "handed-over") return settled
  }
}

const HANDED_OVER: Before = { resumption: undefined, begin: "go-on" }

/** One harness after another works on the run, each in its own chat. */
const goLeg = async (context: RunContext, before: Before): Promise<LegEnd> => {
  const { state, space, run, world } = context
  const now = context.read()
  const hasTakenOver = now.attempts.some(({ harness }) => harness !== "" && harness !== now.harness)
  const plan = planFor(context.plan, { harness: now.harness, hasTakenOver })
  const harness = await loadHarness(plan.harness, world)
  const seal = await openSeal(space.id, state, world)
  const own = readChats(space, state.onDamage).findLast(
    (record) => record.runId === run.id && record.harness === plan.harness,
  )
  const chat = await startChat(
    state.place,
    space,
    {
      chatId: plan.ownChat ?? own?.chatId,
      harness: plan.harness,
      harnessSessionId: now.harnessSessionId ?? (plan.session.kind === "continue" ? plan.session.id : ""),
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
    return await goOn({ ...context, whole: context.plan, plan, harness, chat }, before)
  } finally {
    // The next command finds an abandoned run by its lock file.
    if (context.stopper.isLeft()) chat.lock.release()
    else await stopChat(space, chat, state.now())
  }
}

const goOn = async (opened: Leg, first: Before): Promise<LegEnd> => {
  const { world, stopper, space, run, files } = opened
  let before = first
  for (;;) {
    const leg = withKeptCaps(opened)
    const now = leg.read()
    if (stopper.isLeft()) return { tag: "left" }
    if (stopper.signal.aborted)
      return { tag: "ended", outcome: { ...stopped(stopper), ...usageOf(now.attempts) } }
    await settleLeft(leg, now)
    const words = waitingWords(files)
    // If it was already done when its worker was killed, it is not asked again.
    const isDone = words.length === 0 && before.resumption === "worker_died" && wasDone(now)
    const breach = isDone ? undefined : breachNow(leg, now)
    if (breach !== undefined) return await pauseFor(leg, "budget", sayBreach(breach))
    const launch = isDone ? undefined : await launchOf(leg, before, words)
    handOverWords(leg, words)
    const verdict = launch === undefined ? DONE : await attempt(leg, launch)
    if (verdict.status === "cancelled") await world.clock.sleep(GOING_DOWN_MS, stopper.signal)
    if (stopper.isLeft() && verdict.status !== "succeeded") return { tag: "left" }
    await settleWords(leg, leg.read().attempts.at(-1), leg.harness)
    keepReport(files, verdict, { isValue: leg.plan.launch.schema !== undefined })
    const after = leg.read()
    const isPaused = after.asked === "pause" && verdict.status !== "succeeded"
    const next: Next | { readonly tag: "pause" } = isPaused
      ? { tag: "pause" }
      : decideAttempt(leg, {
          run: after,
          verdict,
          wasContinued: launch !== undefined && launch.session.kind !== "new",
        })
    switch (next.tag) {
      case "end": {
        const proof: Proven = verdict.status === "succeeded" ? await proveRun(leg) : { tag: "unproven" }
        if (stopper.isLeft()) return { tag: "left" }
        if (proof.tag !== "told")
          return {
            tag: "ended",
            outcome: outcomeOf({ verdict, proof, used: usageOf(after.attempts), stopper }),
          }
        putReportAside(files, after.attempts.length)
        before = { resumption: undefined, begin: "go-on" }
        break
      }
      case "pause":
        await updateRun(space, run.id, { status: "paused", at: isoTime(world.clock.now()) })
        return { tag: "paused" }
      case "paused":
        if (next.for === "budget" && areRaised(leg)) {
          before = { resumption: "paused", begin: "go-on" }
          break
        }
        // Words sent in between are delivered when it resumes.
        putReportAside(files, after.attempts.length)
        return await pauseFor(leg, next.for, verdict.failure?.message ?? "")
      case "ask":
        await updateRun(space, run.id, {
          status: "paused",
          waitingFor: "question",
          waitingUntil: isoTime(Math.min(next.untilMs, LATEST_MS)),
          message: `The limit ends in more than seven days: ${verdict.failure?.message ?? ""}`,
        })
        return { tag: "paused" }
      case "wait":
        putReportAside(files, after.attempts.length)
        if ((await waitUntil(leg, next.untilMs, verdict)) === "paused") return { tag: "paused" }
        before = { resumption: "limit", begin: "go-on" }
        break
      case "hand-over":
        putReportAside(files, after.attempts.length)
        return await handOver(leg, next, verdict)
      case "again":
        world.progress(
          `Attempt ${after.attempts.length} failed (${verdict.failure?.class ?? ""}), trying again.`,
        )
        putReportAside(files, after.attempts.length)
        await world.clock.sleep(next.delayMs, stopper.signal)
        before = { resumption: resumptionAfter(verdict), begin: "go-on" }
        break
      case "anew":
        world.warn("SESSION_BEGUN_ANEW", { run: run.id, harness: leg.harness.name })
        before = { resumption: "anew", begin: "anew" }
        break
      case "deliver":
        putReportAside(files, after.attempts.length)
        before = { resumption: undefined, begin: "go-on" }
        break
    }
  }
}

const resumptionAfter = ({ failure }: Verdict): Resumption =>
  failure?.class === "crashed" || failure?.class === "stalled" ? failure.class : "failed"

/** The cap that leaves nothing for another attempt, counting what others have spent. */
const breachNow = ({ plan, space, state, world }: Leg, run: Run): RunBreach | undefined =>
  breachOf(plan.caps, spentBy(run, plan.caps, { space, state, nowMs: world.clock.now() }))

/** A person may have set other caps while it worked, or waited. */
const withKeptCaps = (leg: Leg): Leg => {
  const kept = readStoredPlan(leg.space, leg.run.id, leg.state, leg.world)
  return kept.tag === "plan" && !areSame(kept.plan.caps, leg.plan.caps)
    ? { ...leg, plan: { ...leg.plan, caps: kept.plan.caps } }
    : leg
}

const areRaised = (leg: Leg): boolean => {
  const now = withKeptCaps(leg)
  return now !== leg && breachNow(now, leg.read()) === undefined
}

const areSame = (left: RunCaps | undefined, right: RunCaps | undefined): boolean =>
  JSON.stringify(left ?? {}) === JSON.stringify(right ?? {})

/** A durable question: the run stays open until a person answers it. */
const pauseFor = async (
  { space, run, world }: Leg,
  waitingFor: "budget" | "question",
  message: string,
): Promise<LegEnd> => {
  await updateRun(space, run.id, { status: "paused", at: isoTime(world.clock.now()), waitingFor, message })
  world.warn("RUN_ASKS", { run: run.id, question: message })
  return { tag: "paused" }
}

/** Settles words that an earlier worker had handed over: its harness knows which arrived. */
const settleLeft = async (leg: Leg, { attempts, harness }: Run): Promise<void> => {
  const last = attempts.at(-1)
  const by = last === undefined || last.harness === "" ? harness : last.harness
  await settleWords(leg, last, by === leg.harness.id ? leg.harness : await loadHarness(by, leg.world))
}

/** Recorded before it is said, so that a later worker can ask whether it arrived. */
const handOverWords = ({ files, harness, state }: Leg, words: readonly SentWords[]): void => {
  const upTo = words.at(-1)?.number
  if (upTo !== undefined && harness.steering !== "step")
    noteHanded(files, { upTo, at: state.now(), by: "message" })
}

const wasDone = ({ attempts }: Run): boolean => attempts.at(-1)?.why === "succeeded"

const DONE: Verdict = { status: "succeeded", skippedLines: 0 }

/** A machine that shuts down signals every process, and the harness may hear it before we do. */
const GOING_DOWN_MS = 500

/** A harness that cannot even be started counts as a failed attempt if another could take over. */
const attempt = async (leg: Leg, launch: Parameters<typeof makeAttempt>[1]): Promise<Verdict> => {
  try {
    return await makeAttempt(leg, launch)
  } catch (error) {
    if (
      !(error instanceof Failure) ||
      error.code !== "HARNESS_NOT_STARTED" ||
      leg.plan.failover === undefined
    )
      throw error
    const failure = failureOf("not_started", error.message)
    await noteUnstarted(leg, failure)
    return { status: "failed", failure, skippedLines: 0 }
  }
}

const waitUntil = async (
  leg: Leg,
  untilMs: number,
  { failure }: Pick<Verdict, "failure">,
): Promise<"paused" | "over"> => {
  const { space, run, stopper } = leg
  await updateRun(space, run.id, {
    status: "waiting",
    waitingFor: "limit",
    waitingUntil: isoTime(untilMs),
    message: failure?.message,
  })
  if ((await untilAsked(leg, untilMs)) === "pause") {
    await updateRun(space, run.id, { status: "paused" })
    return "paused"
  }
  if (!stopper.signal.aborted) await updateRun(space, run.id, { status: "running" })
  return "over"
}

/** From here on the run belongs to the other harness, whichever process resumes it. */
const handOver = async (
  leg: Leg,
  { to, untilMs }: Extract<Next, { tag: "hand-over" }>,
  verdict: Verdict,
): Promise<LegEnd> => {
  const { world, space, run, harness } = leg
  const { model, name } = await otherOf(leg, to)
  world.warn("RUN_HANDED_OVER", {
    run: run.id,
    from: harness.name,
    to: name,
    why: verdict.failure?.message ?? "",
  })
  await updateRun(space, run.id, { harness: to, model })
  if (untilMs !== undefined && (await waitUntil(leg, untilMs, verdict)) === "paused") return { tag: "paused" }
  return { tag: "handed-over" }
}

const otherOf = async (
  { world, whole }: Leg,
  to: string,
): Promise<{ readonly model: string; readonly name: string }> => {
  const { model } = planFor(whole, { harness: to, hasTakenOver: true })
  return { model, name: (await loadHarness(to, world)).name }
}
