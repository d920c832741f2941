import type { Failure } from "@meridian/protocol"
import type { Effect } from "effect"

import type { Transcript } from "../domain/transcript/transcript.ts"
import type { LocationServices } from "../port/location.ts"
import type { Cast } from "./cast.ts"
import type { SessionHandle } from "./session-handle.ts"
import type { SettingsValue } from "./settings.ts"

/**
 * The rest of a turn whose calls have settled, done while the next request is under way. It is always finished, and work
 * that depends on it waits for it.
 */
export interface LateWork {
  /** Begins at once. Work begun earlier is done first. */
  readonly begin: <R>(work: Effect.Effect<void, Failure, R>) => Effect.Effect<void, Failure, R>
  readonly done: Effect.Effect<void, Failure>
}

/** One session at one Location, with the cast of the next turn. */
export interface TurnScene {
  readonly session: SessionHandle
  readonly location: LocationServices
  readonly cast: Cast
  readonly settings: SettingsValue
  /** The late work of the turns before. */
  readonly late: LateWork
}

/** The session is still at the place of this turn. */
export const isAt = (
  { choices }: Transcript,
  { location, settings }: Pick<TurnScene, "location" | "settings">,
): boolean => settings.places.isAt(choices.location, location.directory)
