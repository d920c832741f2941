/** Inputs that were admitted and are not yet part of the conversation. */
import type { Prompt } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"
import type { PendingInput } from "../promotion.ts"

export interface WaitingInput extends PendingInput {
  readonly prompt: Prompt
  /** False: it waits until somebody asks for it. */
  readonly resume: boolean
}

/** By id, oldest first. */
export type Inbox = ReadonlyMap<string, WaitingInput>

export const EMPTY_INBOX: Inbox = new Map()

export const foldInbox = (inbox: Inbox, events: readonly LoggedEvent[]): Inbox => {
  let changed: Map<string, WaitingInput> | undefined
  const change = (): Map<string, WaitingInput> => (changed ??= new Map(inbox))
  for (const event of events) {
    if (event.type === "session.next.prompt.admitted.1") {
      const { messageID: id, prompt, delivery, resume } = event.data
      change().set(id, { id, prompt, delivery, resume, admittedSeq: event.seq })
    } else if (
      event.type === "session.next.prompt.promoted.1" ||
      event.type === "session.next.prompt.cancelled.1"
    )
      change().delete(event.data.messageID)
  }
  return changed ?? inbox
}

/**
 * Those that may become visible: inputs admitted to be run, and inputs at or before the last explicit demand
 * (`released`).
 */
export const inputsToRun = (inbox: Inbox, released: number): readonly WaitingInput[] =>
  [...inbox.values()].filter(({ resume, admittedSeq }) => resume || admittedSeq <= released)
