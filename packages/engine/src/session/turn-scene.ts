import type { Transcript } from "../domain/transcript/transcript.ts"
import type { LocationServices } from "../port/location.ts"
import type { Cast } from "./cast.ts"
import type { SessionHandle } from "./session-handle.ts"
import type { SettingsValue } from "./settings.ts"

/** One session at one Location, with the cast of the next turn. */
export interface TurnScene {
  readonly session: SessionHandle
  readonly location: LocationServices
  readonly cast: Cast
  readonly settings: SettingsValue
}

/** The session is still at the place of this turn. */
export const isAt = (
  { choices }: Transcript,
  { location, settings }: Pick<TurnScene, "location" | "settings">,
): boolean => settings.places.isAt(choices.location, location.directory)
