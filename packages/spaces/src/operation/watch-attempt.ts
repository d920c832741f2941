/**
 * Watches an attempt while it runs. If asked to pause, it stops the attempt when no tool is at work. It also stops an
 * attempt that is silent for too long while no tool process computes.
 */
import type { ProcessMark } from "../domain/process-mark.ts"
import { isProgress } from "../domain/run-activity.ts"
import type { RunBreach } from "../domain/run-caps.ts"
import type { HarnessEvent } from "../port/harness.ts"
import { logWatch } from "../store/run-store.ts"
import type { AttemptSpending } from "./attempt-spending.ts"
import type { AttemptWords } from "./attempt-words.ts"
import type { StopSource } from "./harness-process.ts"
import type { RunContext } from "./run-context.ts"
import { computesSince, toolTimes, type ToolTimes } from "./tool-times.ts"

export interface AttemptWatch extends Disposable {
  readonly stop: StopSource
  readonly started: (process: ProcessMark | undefined) => void
  readonly saw: (event: HarnessEvent) => void
  readonly madeProgress: () => boolean
  readonly stoppedBy: () => StoppedBy | undefined
  /** For "budget": which cap was reached. */
  readonly breach: () => RunBreach | undefined
}

export type StoppedBy = "paused" | "stalled" | "budget"

const LOOK_MS = 1_000
const LOOKS_WITHOUT_NEWS = 60
/** How long it has to answer when it is asked. */
const LONGEST_ANSWER_MS = 60_000
const SILENT =
  "[meridian] Nothing was heard from you for a long time. If you wait for something, say for what, and go on."
/** At these events more has been spent, or a tool has just ended. */
const LOOKED_AT: ReadonlySet<string> = new Set([
  "usage",
  "spending",
  "tool.started",
  "tool.ended",
  "turn.ended",
])

/** Calls that only wait for a sub-agent, whose own calls are reported. Between two of those, nothing is at work. */
const DELEGATES: ReadonlySet<string> = new Set(["Task", "Agent", "task"])

export const watchAttempt = (
  { world, stopper, space, plan, read, files }: RunContext,
  { spending, words }: { readonly spending: AttemptSpending; readonly words: AttemptWords },
): AttemptWatch => {
  const own = new AbortController()
  const over = new AbortController()
  const open = new Set<string>()
  const isNews = logWatch(space, LOOKS_WITHOUT_NEWS)
  let stoppedBy: StoppedBy | undefined
  let breach: RunBreach | undefined
  let isPauseAsked = false
  /** It waits for a person, so silence is expected. */
  let isWaiting = false
  let madeProgress = false
  let lastSignMs = world.clock.now()
  /** Whether it still works. */
  let askedAt: number | undefined
  let leader: ProcessMark | undefined
  let sample: ToolTimes | undefined

  const stop = (why: StoppedBy): void => {
    stoppedBy ??= why
    own.abort()
  }

  const look = (): void => {
    if (!isPauseAsked && isNews()) isPauseAsked = read().asked === "pause"
    if (isPauseAsked && open.size === 0) stop("paused")
    if (plan.caps !== undefined) void lookWhatWasSpent()
    words.look()
    if (isWaiting) lastSignMs = world.clock.now()
    if (plan.policy.stallMs > 0) lookForSigns(world.clock.now())
  }

  /** Never in the middle of a tool: checked again when the tool has ended. */
  const stopWhenSpent = (): void => {
    if (plan.caps === undefined) return
    breach ??= spending.breach()
    if (breach !== undefined && open.size === 0) stop("budget")
  }

  /** Some spending is in no line, or only in a late one. */
  const lookWhatWasSpent = async (): Promise<void> => {
    await spending.look()
    if (!over.signal.aborted) stopWhenSpent()
  }

  const lookForSigns = (now: number): void => {
    const { stallMs } = plan.policy
    if (askedAt !== undefined && lastSignMs > askedAt) {
      askedAt = undefined
      words.ask(undefined)
    }
    const timesNow = (): ToolTimes => toolTimes(files.report, { leader, at: now })
    if (now - lastSignMs < stallMs / 2) sample = undefined
    else if (now - lastSignMs < stallMs) sample ??= timesNow()
    // A computing process is at work, however silent: measured over the second half of the silence.
    else if (sample !== undefined && computesSince(sample, timesNow())) lastSignMs = now
    else if (askedAt === undefined) {
      askedAt = now
      words.ask(SILENT)
      words.look()
    } else if (now - askedAt >= Math.min(stallMs / 4, LONGEST_ANSWER_MS)) stop("stalled")
  }

  void (async () => {
    while (!over.signal.aborted && !own.signal.aborted) {
      await world.clock.sleep(LOOK_MS, over.signal)
      if (!over.signal.aborted) look()
    }
  })()

  return {
    stop: {
      signal: AbortSignal.any([stopper.signal, own.signal]),
      hurry: stopper.hurry,
      reason: () => stopper.reason() ?? (stoppedBy === undefined ? undefined : "cancelled"),
    },
    started: (process) => {
      leader = process
    },
    saw: (event) => {
      lastSignMs = world.clock.now()
      madeProgress ||= isProgress(event.type)
      if (event.type === "waiting") isWaiting = event.for !== "nothing"
      if (event.type === "tool.started" && !DELEGATES.has(event.tool)) open.add(event.call)
      if (event.type === "tool.ended") open.delete(event.call)
      spending.saw(event)
      if (plan.caps !== undefined && LOOKED_AT.has(event.type)) {
        stopWhenSpent()
        void lookWhatWasSpent()
      }
    },
    madeProgress: () => madeProgress,
    stoppedBy: () => stoppedBy,
    breach: () => breach,
    [Symbol.dispose]: () => over.abort(),
  }
}
