/** Reports what does not work at this place, once per session. */
import type { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { noteTrouble, type TurnScene } from "../session/index.ts"

export const noteTroubles = ({ session, location }: TurnScene): Effect.Effect<void, Failure> =>
  Effect.suspend(() => noteTrouble(session, location.troubles?.(session.id) ?? []))
