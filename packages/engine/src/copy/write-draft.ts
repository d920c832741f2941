/** Writes a session that stays invisible until it is complete. */
import type { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { Store, type Creation, type Draft } from "../port/store.ts"
import { Signals } from "../session/index.ts"

/**
 * However this ends, no partial session remains. `created`: false when a session with its id existed by the time it was
 * complete.
 */
export const writeDraft = <Written, R>(
  creation: Creation,
  write: (draft: Draft) => Effect.Effect<Written, Failure, R>,
): Effect.Effect<{ readonly created: boolean; readonly written: Written }, Failure, R | Store | Signals> =>
  Effect.scoped(
    Effect.gen(function* () {
      const store = yield* Store
      const signals = yield* Signals
      const draft = yield* store.draft(creation)
      const written = yield* write(draft)
      const created = (yield* draft.publish) === "published"
      if (created) signals.tell(creation.data.sessionID)
      return { created, written }
    }),
  )
