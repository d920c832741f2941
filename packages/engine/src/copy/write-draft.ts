/** Writes a session that nobody sees before it is whole. */
import type { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { Store, type Creation, type Draft } from "../port/store.ts"
import { Signals } from "../session/index.ts"

/** However that ends, no half of it stays. `created`: false when a session had its id by the time it was whole. */
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
