/**
 * One session while this process works on it: what is known of it, and how to record its progress. A drain makes the handle
 * under its lease; every append carries the fence.
 */
import {
  messageId,
  type DurableEvent,
  type Failure,
  type LiveEvent,
  type MessageId,
} from "@meridian/protocol"
import { Effect } from "effect"

import { inputsToRun, type WaitingInput } from "../domain/transcript/inbox.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import { Ids } from "../port/ids.ts"
import { Store, type Fence } from "../port/store.ts"
import type { Decide } from "./decision.ts"
import { FoldedSessions, type History } from "./folded-sessions.ts"
import { Signals } from "./signals.ts"

export interface SessionHandle {
  readonly id: string
  readonly fence: Fence
  /** The newest value this process knows. */
  readonly history: () => History
  readonly transcript: () => Transcript
  /** Inputs up to this sequence that waited for a demand have had one. */
  readonly released: () => number
  /** The time of the store. */
  readonly now: () => number
  /** Reads what other processes have appended until now, and any append of ours whose answer got lost. */
  readonly refresh: Effect.Effect<Transcript, Failure>
  /** Inputs that may become visible now. */
  readonly inputs: () => readonly WaitingInput[]
  /** Records progress. A power cut may lose the newest of it. */
  readonly append: (events: readonly DurableEvent[]) => Effect.Effect<void, Failure>
  /** Records what we are about to do. Nothing of it may be done before the answer is `safe`. */
  readonly intend: (
    events: readonly DurableEvent[],
  ) => Effect.Effect<{ readonly safe: Effect.Effect<void, Failure> }, Failure>
  readonly decide: <A>(decide: Decide<A>) => Effect.Effect<A, Failure>
  /** Like `decide`, for what we are about to do. Completes when the record is safe. */
  readonly decideToAct: <A>(decide: Decide<A>) => Effect.Effect<A, Failure>
  /** For connected readers; not in the log. */
  readonly publish: (event: LiveEvent) => void
  readonly newMessage: () => MessageId
  readonly newCompaction: () => string
  readonly newQuestion: () => string
}

/** Keeps the session folded while `use` runs. */
export type WithSession = <A, E, R>(
  options: { readonly fence: Fence; readonly released: () => number },
  use: (session: SessionHandle) => Effect.Effect<A, E, R>,
) => Effect.Effect<A, E | Failure, R>

export const openSessions: Effect.Effect<WithSession, never, FoldedSessions | Signals | Store | Ids> =
  Effect.gen(function* () {
    const sessions = yield* FoldedSessions
    const signals = yield* Signals
    const store = yield* Store
    const ids = yield* Ids

    const openSession = (fence: Fence, released: () => number, history: () => History): SessionHandle => {
      const id = fence.session
      const transcript = (): Transcript => history().transcript
      const decide: SessionHandle["decide"] = (decision) =>
        sessions.write({ session: id, fence, durability: "progress" }, decision)
      return {
        id,
        fence,
        history,
        transcript,
        now: store.now,
        refresh: Effect.map(sessions.current(id), (current) => current.transcript),
        released,
        inputs: () => inputsToRun(transcript().inbox, released()),
        append: (events) => decide(() => ({ kind: "append", events, answer: () => undefined })),
        intend: (events) =>
          sessions.intend({ session: id, fence, durability: "act" }, () => ({
            kind: "append",
            events,
            answer: () => undefined,
          })),
        decide,
        decideToAct: (decision) => sessions.write({ session: id, fence, durability: "act" }, decision),
        publish: (event) => signals.publishLive(id, event),
        newMessage: () => messageId(ids.next("msg_")),
        newCompaction: () => ids.next("cmp_"),
        newQuestion: () => ids.next("que_"),
      }
    }

    return ({ fence, released }, use) =>
      sessions.keep(fence.session, (history) => use(openSession(fence, released, history)))
  })
