/** Inputs that were admitted and are not yet part of the conversation. */
import type { Prompt } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"
import type { PendingInput } from "../promotion.ts"

export interface WaitingInput extends PendingInput {
  readonly prompt: Prompt
  /** False: it waits until somebody asks for it. */
  readonly resume: boolean
}

/** Oldest first. */
export type Inbox = readonly WaitingInput[]

export const EMPTY_INBOX: Inbox = []

/** Copies the list once for a whole batch of admissions: one copy for each would make a long log quadratic. */
export const foldInbox = (inbox: Inbox, events: readonly LoggedEvent[]): Inbox => {
  let changed: WaitingInput[] | undefined
  for (const event of events) {
    if (event.type === "session.next.prompt.admitted.1") {
      const { messageID: id, prompt, delivery, resume } = event.data
      changed ??= [...inbox]
      changed.push({ id, prompt, delivery, resume, admittedSeq: event.seq })
    } else if (
      event.type === "session.next.prompt.promoted.1" ||
      event.type === "session.next.prompt.cancelled.1"
    )
      changed = (changed ?? inbox).filter(({ id }) => id !== event.data.messageID)
  }
  return changed ?? inbox
}

export const findInput = (inbox: Inbox, id: string): WaitingInput | undefined =>
  inbox.find((input) => input.id === id)

/**
 * Those that may become visible: inputs admitted to be run, and inputs at or before the last explicit demand
 * (`released`).
 */
export const inputsToRun = (inbox: Inbox, released: number): readonly WaitingInput[] =>
  inbox.filter(({ resume, admittedSeq }) => resume || admittedSeq <= released)
