/** Undoing the work of prompts, and showing it. Every answer quotes the prompts. */
import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import type { SessionsApi } from "./api.ts"
import { present, readFiles, readRedo, readUndo } from "./check-input.ts"
import { LIMITS } from "./domain/limits.ts"
import type { VerbsOf } from "./faces.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { Store } from "./port/store.ts"
import { FoldedSessions } from "./session/index.ts"
import { changedFiles, redoSession, undoSession, type Undone, type UndoServices } from "./undo/index.ts"

export const openUndoVerbs = Effect.gen(function* () {
  const store = yield* Store
  const sessions = yield* FoldedSessions
  const parts = yield* Effect.context<UndoServices>()

  const within = <A, E>(effect: Effect.Effect<A, E, UndoServices>): Effect.Effect<A, E> =>
    Effect.provideContext(effect, parts)

  /** A prompt as people recognise it: by its text. */
  const textOf = (session: string, { id }: { readonly id: string }) =>
    Effect.map(store.message(session, id), (message) => ({
      id,
      text: message?.type === "user" ? message.text : "",
    }))

  const withTexts = (session: string, undone: Undone) =>
    Effect.map(
      Effect.forEach(undone.prompts.slice(-LIMITS.namedFiles), (mark) => textOf(session, mark)),
      (prompts) => ({ ...undone, prompts }),
    )

  const verbs: Pick<VerbsOf<SessionsApi>, "undo" | "redo" | "files"> = {
    undo: (input) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readUndo(present(input)))
        const { sessionID, count = 1, overwrite = false } = request
        const { conversation = true, files = true } = request
        if (!conversation && !files)
          return yield* Effect.fail(
            new Failure("INVALID_INPUT", { what: "Either the conversation or files are taken back" }),
          )
        yield* sessions.exists(sessionID)
        const wish = { sessionID, conversation, files, overwrite, last: { count } }
        return yield* withTexts(sessionID, yield* within(undoSession(wish)))
      }),
    redo: (input) =>
      Effect.gen(function* () {
        const { sessionID, overwrite = false } = yield* fromThrowing(() => readRedo(present(input)))
        yield* sessions.exists(sessionID)
        return yield* withTexts(sessionID, yield* within(redoSession({ sessionID, overwrite })))
      }),
    files: (input) =>
      Effect.gen(function* () {
        const { sessionID, at, diff } = yield* fromThrowing(() => readFiles(present(input)))
        yield* sessions.exists(sessionID)
        const changed = yield* within(changedFiles({ sessionID, at, diff }))
        const { number, ...mark } = changed.prompt
        return { ...changed, prompt: { ...(yield* textOf(sessionID, mark)), number } }
      }),
  }
  return verbs
})
