/**
 * Why a run ends early: a signal, a cancelled call, or the time limit. The first reason counts. A worker that gets an
 * unexplained signal (a shutdown, a kill) does not end the run: it leaves the run to others.
 */
import type { StopSource } from "./harness-process.ts"
import { Interrupted, type SignalName, type World } from "./world.ts"

export interface Stopper extends StopSource {
  /** 130 or 143 after a signal. */
  readonly exitCode: () => number
  /** This process exits, and the run continues without it. */
  readonly isLeft: () => boolean
  /** Starts the timeout. Only the first call counts. */
  readonly startTimeout: (seconds: number | undefined) => void
  readonly close: () => void
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, cancelled: 130 } as const

export interface StopOptions {
  /** `worker`: a separate process, whose signal ends it but not the run, unless `isAsked`. `person`: a user's command. */
  readonly owner: "worker" | "person"
  /** The run was asked to stop. */
  readonly isAsked: () => boolean
  /** A person's signal stops the run. */
  readonly onAsked: () => void
}

export const openStopper = (
  world: Pick<World, "signal" | "onSignal" | "clock">,
  { owner, isAsked, onAsked }: StopOptions,
): Stopper => {
  const stop = new AbortController()
  const hurry = new AbortController()
  const over = new AbortController()
  let reason: "cancelled" | "timeout" | "left" | undefined
  let exitCode = 1
  let signals = 0
  const end = (why: "cancelled" | "timeout" | "left", code: number): void => {
    if (reason !== undefined) return
    reason = why
    exitCode = code
    stop.abort()
  }
  const receive = (signal: SignalName | "cancelled"): void => {
    // The terminal is gone, but the work is not.
    if (owner === "person" && signal === "SIGHUP") return
    if (owner === "worker" && !isAsked()) return end("left", EXIT_CODES[signal])
    if (owner === "person" && reason === undefined) onAsked()
    end("cancelled", EXIT_CODES[signal])
  }
  const onAbort = (): void => {
    const why: unknown = world.signal.reason
    receive(why instanceof Interrupted ? why.signal : "cancelled")
  }
  if (world.signal.aborted) onAbort()
  else world.signal.addEventListener("abort", onAbort, { once: true })
  const unlisten = world.onSignal((signal) => {
    signals += signal === "SIGHUP" && owner === "person" ? 0 : 1
    receive(signal)
    if (signals > 1) hurry.abort()
  })
  let counting = false
  return {
    signal: stop.signal,
    hurry: hurry.signal,
    reason: () => (reason === "left" ? "cancelled" : reason),
    isLeft: () => reason === "left",
    exitCode: () => exitCode,
    startTimeout: (seconds) => {
      if (seconds === undefined || counting) return
      counting = true
      void world.clock.sleep(seconds * 1000, over.signal).then(() => {
        if (!over.signal.aborted) end("timeout", 3)
        return undefined
      })
    },
    close: () => {
      over.abort()
      unlisten()
      world.signal.removeEventListener("abort", onAbort)
    },
  }
}
