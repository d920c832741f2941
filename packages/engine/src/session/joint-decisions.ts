/**
 * Decisions about one session that wait while another append is under way, made together and stored as one: each sees what
 * the ones before it append. Many calls of a turn end at the same moment.
 */
import type { DurableEvent, Failure, StoredEvent } from "@meridian/protocol"
import { Effect, type Cause } from "effect"

import { foldTranscript, type Transcript } from "../domain/transcript/transcript.ts"
import type { Appended, Decide, Destination } from "./decision.ts"

export interface Joining<A> {
  readonly member: Member
  /** Undefined until somebody has stored it. */
  readonly outcome: () => Effect.Effect<Appended<A>, Failure> | undefined
}

export interface Member {
  readonly to: Destination
  readonly decide: (transcript: Transcript) => readonly DurableEvent[]
  readonly stored: (events: readonly StoredEvent[], safe: Effect.Effect<void, Failure>) => void
  /** It may be stored all the same, so nobody tries it again. */
  readonly failed: (cause: Cause.Cause<Failure>) => void
}

export const joinDecision = <A>(to: Destination, decide: Decide<A>): Joining<A> => {
  let decision: ReturnType<Decide<A>> | undefined
  let outcome: Effect.Effect<Appended<A>, Failure> | undefined
  return {
    outcome: () => outcome,
    member: {
      to,
      decide: (transcript) => {
        decision = decide(transcript)
        return decision.kind === "append" ? decision.events : []
      },
      failed: (cause) => {
        outcome = Effect.failCause(cause)
      },
      stored: (events, safe) => {
        const made = decision
        if (made === undefined) return
        outcome =
          made.kind === "refuse"
            ? Effect.fail(made.failure)
            : Effect.sync(() => ({ answer: made.answer(events), safe, isNew: events.length > 0 }))
      },
    },
  }
}

/** Takes those out of the queue that can be stored together with the first. */
export const takeAlike = (waiting: Member[], first: Member): readonly Member[] => {
  const { fence, durability } = first.to
  const alike = waiting.filter(({ to }) => to.durability === durability && to.fence?.number === fence?.number)
  for (const member of alike) waiting.splice(waiting.indexOf(member), 1)
  return alike
}

export interface JointDecision {
  readonly events: readonly DurableEvent[]
  readonly transcript: Transcript
  /** To be called once it is stored. */
  readonly stored: (safe: Effect.Effect<void, Failure>) => void
}

export const decideTogether = (
  members: readonly Member[],
  before: Transcript,
  numbered: (events: readonly DurableEvent[], after: number) => readonly StoredEvent[],
): JointDecision => {
  let transcript = before
  const parts = members.map((member) => {
    const events = member.decide(transcript)
    const stored = numbered(events, transcript.seq)
    if (stored.length > 0) transcript = foldTranscript(transcript, stored)
    return { member, events, stored }
  })
  return {
    events: parts.flatMap(({ events }) => events),
    transcript,
    stored: (safe) => {
      for (const { member, stored } of parts) member.stored(stored, safe)
    },
  }
}
