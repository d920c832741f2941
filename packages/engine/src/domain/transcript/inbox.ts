/** Admitted inputs that are not yet part of the conversation. */
import type { Overrides, RecordedPrompt } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"
import { overridesOf } from "../overrides.ts"
import type { PendingInput } from "../promotion.ts"

export interface WaitingInput extends PendingInput {
  readonly prompt: RecordedPrompt
  /** False: the input waits until somebody asks for it. */
  readonly resume: boolean
  /** How it changes the requests of its activity. */
  readonly overrides: Overrides
}

/** Oldest first. */
export type Inbox = readonly WaitingInput[]

export const EMPTY_INBOX: Inbox = []

/** Copies the list once per batch of admissions. One copy per admission would make a long log quadratic. */
export const foldInbox = (inbox: Inbox, events: readonly LoggedEvent[]): Inbox => {
  let changed: WaitingInput[] | undefined
  for (const event of events) {
    if (event.type === "session.next.prompt.admitted.1") {
      changed ??= [...inbox]
      changed.push(inputOf(event))
    } else if (
      event.type === "session.next.prompt.promoted.1" ||
      event.type === "session.next.prompt.cancelled.1"
    )
      changed = (changed ?? inbox).filter(({ id }) => id !== event.data.messageID)
  }
  return changed ?? inbox
}

type Admitted = Extract<LoggedEvent, { readonly type: "session.next.prompt.admitted.1" }>

const inputOf = ({ seq, data }: Admitted): WaitingInput => ({
  id: data.messageID,
  prompt: data.prompt,
  delivery: data.delivery,
  resume: data.resume,
  admittedSeq: seq,
  overrides: overridesOf(data),
})

/** Finds an input that waited before these events or was admitted by one of them. */
export const findAdmitted = (
  inbox: Inbox,
  events: readonly LoggedEvent[],
  id: string,
): WaitingInput | undefined => {
  const waiting = findInput(inbox, id)
  if (waiting !== undefined) return waiting
  const admitted = events.find(
    (event) => event.type === "session.next.prompt.admitted.1" && event.data.messageID === id,
  )
  return admitted?.type === "session.next.prompt.admitted.1" ? inputOf(admitted) : undefined
}

export const findInput = (inbox: Inbox, id: string): WaitingInput | undefined =>
  inbox.find((input) => input.id === id)

/** Inputs that may become visible: those admitted to run, and those up to the last explicit demand (`released`). */
export const inputsToRun = (inbox: Inbox, released: number): readonly WaitingInput[] =>
  inbox.filter(({ resume, admittedSeq }) => resume || admittedSeq <= released)
