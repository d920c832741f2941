/**
 * Looks after an attempt while it runs. Asked to pause, it is stopped when no tool is at work. Silent for longer than a run may
 * be, and without a process that computes, it is stopped too.
 */
import type { ProcessMark } from "../domain/process-mark.ts"
import { isProgress } from "../domain/run-activity.ts"
import type { HarnessEvent } from "../port/harness.ts"
import { groupTicks } from "../store/process-table.ts"
import { logWatch } from "../store/run-store.ts"
import type { StopSource } from "./harness-process.ts"
import type { RunContext } from "./run-context.ts"

export interface AttemptWatch extends Disposable {
  readonly stop: StopSource
  readonly started: (process: ProcessMark | undefined) => void
  readonly saw: (event: HarnessEvent) => void
  readonly madeProgress: () => boolean
  readonly stoppedBy: () => "paused" | "stalled" | undefined
}

const LOOK_MS = 1_000

export const watchAttempt = ({ world, stopper, space, plan, read }: RunContext): AttemptWatch => {
  const own = new AbortController()
  const over = new AbortController()
  const open = new Set<string>()
  const isNews = logWatch(space)
  let stoppedBy: "paused" | "stalled" | undefined
  let isPauseAsked = false
  let madeProgress = false
  let lastSignMs = world.clock.now()
  let leader: ProcessMark | undefined
  let ticks: number | undefined

  const stop = (why: "paused" | "stalled"): void => {
    stoppedBy ??= why
    own.abort()
  }

  const look = (): void => {
    if (!isPauseAsked && isNews()) isPauseAsked = read().asked === "pause"
    if (isPauseAsked && open.size === 0) stop("paused")
    if (plan.policy.stallMs > 0 && world.clock.now() - lastSignMs >= plan.policy.stallMs && !computes())
      stop("stalled")
  }

  /** A process that was given time since the last look is at work, whatever it says. */
  const computes = (): boolean => {
    const now = leader === undefined ? undefined : groupTicks(leader)
    const isBusy = now !== undefined && now !== ticks
    ticks = now
    if (isBusy) lastSignMs = world.clock.now()
    return isBusy
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
      if (event.type === "tool.started") open.add(event.call)
      if (event.type === "tool.ended") open.delete(event.call)
    },
    madeProgress: () => madeProgress,
    stoppedBy: () => stoppedBy,
    [Symbol.dispose]: () => over.abort(),
  }
}
