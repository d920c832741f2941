/** Where a fork ends (a message, or the end of one prompt's work), and what comes after it. */
import type { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { findPrompt } from "../domain/undo.ts"
import { Store } from "../port/store.ts"
import { FoldedSessions } from "../session/index.ts"
import { requirePrompt } from "./changed-files.ts"

export interface ForkPlace {
  /** The last message of the fork. Undefined: everything that is settled. */
  readonly message: string | undefined
  /** The sequence of the first prompt after it, if there is one. */
  readonly next: number | undefined
}

export const findForkPlace = (
  sessionID: string,
  at: string | number | undefined,
): Effect.Effect<ForkPlace, Failure, Store | FoldedSessions> =>
  Effect.gen(function* () {
    if (at === undefined) return { message: undefined, next: undefined }
    const store = yield* Store
    const { current } = yield* FoldedSessions
    const { prompts } = (yield* current(sessionID)).transcript.undoing
    if (typeof at === "string" && findPrompt(prompts, at)?.id !== at && !/^\d+$/.test(at)) {
      const message = yield* store.message(sessionID, at)
      return { message: at, next: prompts.find(({ seq }) => seq > (message?.seq ?? 0))?.seq }
    }
    const prompt = yield* requirePrompt(sessionID, prompts, at)
    const next = prompts.find(({ seq }) => seq > prompt.seq)?.seq
    // A prompt has the id of its message. The fork ends with that message, before any answer.
    if (prompt.id === at) return { message: at, next: prompt.seq }
    if (next === undefined) return { message: undefined, next }
    const stretch = { direction: "down", from: next, limit: LIMITS.messagesPerPage } as const
    const last = (yield* store.messages(sessionID, stretch)).find(
      ({ item }) => item?.type === "user" || item?.type === "assistant" || item?.type === "compaction",
    )
    return { message: last?.item?.id ?? prompt.id, next }
  })
