/**
 * Time comes only from Effect's `Clock`, so that a test can control it. Background work (a sweep, a sign of life) waits on
 * a separate clock whose timers keep no process alive.
 */
import { Clock, Context, Duration, Effect } from "effect"

/** Makes the background clock from the clock. In tests both are the same. */
export const Background = Context.Reference<(clock: Clock.Clock) => Clock.Clock>("meridian/Background", {
  defaultValue: () => unhurried,
})

/** Sleeps inside this effect keep no process alive. */
export const inBackground = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Background, (background) =>
    Clock.clockWith((clock) => Effect.provideService(effect, Clock.Clock, background(clock))),
  )

const unhurried = (clock: Clock.Clock): Clock.Clock => ({
  currentTimeMillis: clock.currentTimeMillis,
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanos: clock.monotonicTimeNanos,
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  sleep: (duration) =>
    Effect.callback<void>((resume) => {
      // The only timer of the engine that keeps no process alive.
      const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
      timer.unref()
      return Effect.sync(() => clearTimeout(timer))
    }),
})

/** The same clock for plain asynchronous code: tools, models, context sources. */
export interface Time {
  /** Milliseconds since the epoch; may jump. */
  readonly now: () => number
  /** Milliseconds from an arbitrary start; never goes back. */
  readonly monotonic: () => number
  readonly sleep: Sleep
}

/** Resolves after this time; rejects when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

export const timeOf = (clock: Clock.Clock): Time => ({
  now: () => clock.currentTimeMillisUnsafe(),
  monotonic: () => monotonicMs(clock),
  sleep: (ms, signal) => Effect.runPromise(clock.sleep(Duration.millis(ms)), { signal }),
})

export const monotonicMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe() / 1_000n) / 1_000
