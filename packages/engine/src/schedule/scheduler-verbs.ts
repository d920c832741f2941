/** What may be asked of the work on sessions, whoever does it. */
import type { Failure } from "@meridian/protocol"
import type { Effect } from "effect"

export interface SchedulerVerbs {
  /** There may be work. */
  readonly wake: (session: string, demand?: WakeDemand) => Effect.Effect<void, Failure>
  readonly run: (session: string) => Effect.Effect<void, Failure>
  /** Stops the work, here or in another process, and is done when it has settled. */
  readonly interrupt: (session: string) => Effect.Effect<void, Failure>
  /** Done when nobody works on the session; fails with the first failure that happened here meanwhile. */
  readonly settled: (session: string) => Effect.Effect<void, Failure>
  /** As `settled`; a session that waits for its provider is not done. */
  readonly wait: (session: string) => Effect.Effect<void, Failure>
  /** Takes up nothing more, and hands over what is at work as its turns end. Done when nothing is. */
  readonly drain: Effect.Effect<void>
  readonly isDraining: () => boolean
  readonly isActive: (session: string) => boolean
  readonly active: Effect.Effect<readonly string[]>
}

export interface WakeDemand {
  /** Inputs up to there that waited for a demand have it now. */
  readonly through?: number
  /** A session that waits for its provider goes on at once. */
  readonly early?: boolean
  /** What the caller still waits for; the session stays busy until the caller has had its answer. */
  readonly until?: Effect.Effect<void, Failure>
}
