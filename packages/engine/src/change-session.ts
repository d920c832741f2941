/**
 * What people change about a session. Each change is one event. Any process may write it, whatever the session is doing.
 */
import type { DurableEvent, Failure } from "@meridian/protocol"
import { Effect } from "effect"

import type { SessionsApi } from "./api.ts"
import {
  findLocation,
  present,
  readAgentSwitch,
  readArchive,
  readModelSwitch,
  readMove,
  readRename,
} from "./check-input.ts"
import type { VerbsOf } from "./faces.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { FoldedSessions, requireModel, requirePrimaryAgent, Settings } from "./session/index.ts"

type Changes = Pick<VerbsOf<SessionsApi>, "switchModel" | "switchAgent" | "rename" | "archive" | "move">

export const openChanges = Effect.gen(function* () {
  const sessions = yield* FoldedSessions
  const settings = yield* Settings

  const record = (session: string, event: DurableEvent): Effect.Effect<void, Failure> =>
    sessions.write({ session, durability: "acknowledged" }, () => ({
      kind: "append",
      events: [event],
      answer: () => undefined,
    }))

  const changes: Changes = {
    switchModel: (input) =>
      Effect.gen(function* () {
        const { sessionID, model } = yield* fromThrowing(() => readModelSwitch(present(input)))
        yield* fromThrowing(() => requireModel(settings, model))
        yield* record(sessionID, { type: "session.next.model.switched.1", data: { model } })
      }),
    switchAgent: (input) =>
      Effect.gen(function* () {
        const { sessionID, agent } = yield* fromThrowing(() => readAgentSwitch(present(input)))
        yield* fromThrowing(() => requirePrimaryAgent(settings, agent))
        yield* record(sessionID, { type: "session.next.agent.switched.1", data: { agent } })
      }),
    rename: (input) =>
      Effect.gen(function* () {
        const { sessionID, title } = yield* fromThrowing(() => readRename(present(input)))
        yield* record(sessionID, { type: "session.next.renamed.1", data: { title } })
      }),
    archive: (input) =>
      Effect.gen(function* () {
        const { sessionID, archived } = yield* fromThrowing(() => readArchive(present(input)))
        yield* record(sessionID, { type: "session.next.archived.1", data: { archived } })
      }),
    move: (input) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readMove(present(input)))
        const location = yield* fromThrowing(() => findLocation(request.location, settings.places))
        yield* record(request.sessionID, { type: "session.next.moved.1", data: { location } })
      }),
  }
  return changes
})
