/** Why a run is ended early: a signal, a cancelled call, or its time is up. The first reason stands. */
import type { StopSource } from "./harness-process.ts"
import { Interrupted, type World } from "./world.ts"

export interface Stopper extends StopSource {
  /** 130 or 143 after a signal. */
  readonly exitCode: () => number
  /** Begins to count; only the first call does. */
  readonly startTimeout: (seconds: number | undefined) => void
  readonly close: () => void
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, cancelled: 130 } as const

export const openStopper = (world: Pick<World, "signal" | "onSignal" | "clock">): Stopper => {
  const stop = new AbortController()
  const hurry = new AbortController()
  const over = new AbortController()
  let reason: "cancelled" | "timeout" | undefined
  let exitCode = 1
  let signals = 0
  const end = (why: "cancelled" | "timeout", code: number): void => {
    if (reason !== undefined) return
    reason = why
    exitCode = code
    stop.abort()
  }
  const onAbort = (): void => {
    const why: unknown = world.signal.reason
    end("cancelled", EXIT_CODES[why instanceof Interrupted ? why.signal : "cancelled"])
  }
  if (world.signal.aborted) onAbort()
  else world.signal.addEventListener("abort", onAbort, { once: true })
  const unlisten = world.onSignal((signal) => {
    signals += 1
    end("cancelled", EXIT_CODES[signal])
    if (signals > 1) hurry.abort()
  })
  let counting = false
  return {
    signal: stop.signal,
    hurry: hurry.signal,
    reason: () => reason,
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
