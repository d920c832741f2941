/** The requests about work on sessions, whichever process does the work. */
import type { Failure } from "@meridian/protocol"
import type { Effect } from "effect"

export interface SchedulerVerbs {
  /** There may be work. */
  readonly wake: (session: string, demand?: WakeDemand) => Effect.Effect<void, Failure>
  readonly run: (session: string) => Effect.Effect<void, Failure>
  /** Stops the work, in this process or another, and completes when it has settled. */
  readonly interrupt: (session: string) => Effect.Effect<void, Failure>
  /** Completes when no process works on the session; fails with the first failure that happened here while waiting. */
  readonly settled: (session: string) => Effect.Effect<void, Failure>
  /** Like `settled`, but a session that waits for its provider is not done. */
  readonly wait: (session: string) => Effect.Effect<void, Failure>
  /** Takes up no more work and hands over running work as its turns end. Completes when nothing runs. */
  readonly drain: Effect.Effect<void>
  readonly isDraining: () => boolean
  readonly isActive: (session: string) => boolean
  readonly active: Effect.Effect<readonly string[]>
}

export interface WakeDemand {
  /** Inputs up to this sequence that waited for a demand now have one. */
  readonly through?: number
  /** A session that waits for its provider continues at once. */
  readonly early?: boolean
  /** What the caller still waits for. The session stays busy until the caller has its answer. */
  readonly until?: Effect.Effect<void, Failure>
}
