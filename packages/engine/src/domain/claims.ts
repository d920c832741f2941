/** Names that events introduce. Each may belong to one thing only, across all sessions of a store. */
import type { DurableEvent } from "@meridian/protocol"

export type Claim =
  | { readonly kind: "input"; readonly id: string }
  | { readonly kind: "request"; readonly id: string }

/** A session claims its own id by being the first to append to it. */
export const claimOf = (event: DurableEvent): Claim | undefined => {
  if (event.type === "session.next.prompt.admitted.1") return { kind: "input", id: event.data.messageID }
  if (event.type === "session.next.synthetic.1") return { kind: "input", id: event.data.messageID }
  if (event.type === "session.next.permission.asked.1") return { kind: "request", id: event.data.requestID }
  if (event.type === "session.next.question.asked.1" && event.data.callID !== undefined)
    return { kind: "request", id: event.data.requestID }
  return undefined
}

export const claimsOf = (events: readonly DurableEvent[]): readonly Claim[] =>
  events.flatMap((event) => claimOf(event) ?? [])
