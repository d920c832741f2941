/**
 * A message that the embedding program adds to a session: visible at once, marked as not written by a person, and no demand
 * for work. A repeated request with the same id gives the same message.
 */
import { Failure, messageId, type SessionMessage } from "@meridian/protocol"
import { Effect } from "effect"

import type { SyntheticRequest } from "./check-input.ts"
import { Ids } from "./port/ids.ts"
import { Store } from "./port/store.ts"
import { FoldedSessions } from "./session/index.ts"

export type SyntheticMessage = Extract<SessionMessage, { readonly type: "synthetic" }>

export const openSynthetic = Effect.gen(function* () {
  const store = yield* Store
  const sessions = yield* FoldedSessions
  const ids = yield* Ids

  const conflict = (input: string, field: string): Failure => new Failure("PROMPT_CONFLICT", { input, field })

  const earlier = ({ sessionID, id, text }: SyntheticRequest & { readonly id: string }) =>
    Effect.gen(function* () {
      const message = yield* store.message(sessionID, id)
      if (message === undefined) {
        const input = yield* store.input(id)
        return input === undefined ? undefined : yield* Effect.fail(conflict(id, "message"))
      }
      if (message.type !== "synthetic") return yield* Effect.fail(conflict(id, "message"))
      return message.text === text ? message : yield* Effect.fail(conflict(id, "text"))
    })

  return (request: SyntheticRequest): Effect.Effect<SyntheticMessage, Failure> =>
    Effect.gen(function* () {
      const { sessionID, text } = request
      const id = request.id ?? ids.next("msg_")
      yield* sessions.exists(sessionID)
      const known = request.id === undefined ? undefined : yield* earlier({ ...request, id })
      if (known !== undefined) return known
      const event = { type: "session.next.synthetic.1", data: { messageID: messageId(id), text } } as const
      const { answer, safe } = yield* sessions.claim(
        { session: sessionID, durability: "acknowledged" },
        () => ({
          kind: "append",
          events: [event],
          answer: ([stored]): SyntheticMessage => ({
            id,
            type: "synthetic",
            seq: stored?.seq ?? 0,
            time: stored?.time ?? 0,
            text,
          }),
        }),
      )
      yield* safe
      return answer
    }).pipe(
      // Another process was faster with this id, or the id belongs to something else.
      Effect.catchTag("Taken", ({ claim }) =>
        Effect.flatMap(earlier({ ...request, id: claim.id }), (message) =>
          message === undefined ? Effect.fail(conflict(claim.id, "session")) : Effect.succeed(message),
        ),
      ),
      Effect.uninterruptible,
    )
})
