/**
 * One session, folded from its events: what a drain must know without reading the log again. The log is the truth. A
 * transcript is a value made of slices, one idea each. Folding makes the next value, so a decision can rely on the one it
 * holds.
 */
import type { DurableEventData, Location, RecoveryPolicy, TodoItem } from "@meridian/protocol"

import { assert } from "../assert.ts"
import type { LoggedEvent } from "../logged-event.ts"
import { nextTitle, type Title } from "../title.ts"
import { foldActivity, NO_ACTIVITY, type Activity } from "./activity.ts"
import { foldCalls, NO_CALLS, type Calls } from "./calls.ts"
import {
  foldCompactions,
  noCompactions,
  NOTHING_RESTORED,
  type Compactions,
  type Restoration,
} from "./compactions.ts"
import { foldConversation, NO_CONVERSATION, type Conversation } from "./conversation.ts"
import { foldSurroundings, NO_SURROUNDINGS, type Surroundings } from "./epoch.ts"
import { EMPTY_INBOX, findAdmitted, foldInbox, type Inbox } from "./inbox.ts"
import type { AssistantItem } from "./items.ts"
import { foldLedger, NO_LEDGER, type Ledger } from "./ledger.ts"
import { foldParking, type Parking } from "./parking.ts"
import { foldRow, NO_ROW, type Row } from "./repetition.ts"
import { foldSpending, NO_SPENDING, type Spending } from "./spending.ts"
import { foldTasks, NO_TASKS, type Tasks } from "./tasks.ts"
import { foldUndoing, isWithin, NO_UNDOING, type Span, type Undoing } from "./undoing.ts"

export interface Transcript {
  /** The sequence of the last folded event; 0 without events. */
  readonly seq: number
  readonly title: Title | undefined
  readonly choices: Choices
  readonly activity: Activity
  /** The sequence of the last requested interrupt. */
  readonly interruptSeq: number
  readonly inbox: Inbox
  readonly conversation: Conversation
  readonly calls: Calls
  readonly surroundings: Surroundings
  readonly compactions: Compactions
  /** The session waits for its provider, or has waited and made no progress since. */
  readonly parking: Parking | undefined
  /** What must survive a compaction. */
  readonly ledger: Ledger
  readonly spending: Spending
  /** Its child sessions. */
  readonly tasks: Tasks
  /** Identical calls in a row. */
  readonly row: Row
  /** What can be undone, and what was. */
  readonly undoing: Undoing
}

/** What people have chosen for the session, and its todo list. */
export interface Choices {
  readonly location: Location | undefined
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly recovery: RecoveryPolicy | undefined
  /** Set when the session is a child. */
  readonly task: DurableEventData["session.next.created.1"]["task"]
  readonly todo: readonly TodoItem[]
}

export const emptyTranscript = (restoration: Restoration = NOTHING_RESTORED): Transcript => ({
  seq: 0,
  title: undefined,
  choices: {
    location: undefined,
    agent: undefined,
    model: undefined,
    recovery: undefined,
    task: undefined,
    todo: [],
  },
  activity: NO_ACTIVITY,
  interruptSeq: 0,
  inbox: EMPTY_INBOX,
  conversation: NO_CONVERSATION,
  calls: NO_CALLS,
  surroundings: NO_SURROUNDINGS,
  compactions: noCompactions(restoration),
  parking: undefined,
  ledger: NO_LEDGER,
  tasks: NO_TASKS,
  spending: NO_SPENDING,
  row: NO_ROW,
  undoing: NO_UNDOING,
})

/** The next value. Events must follow the folded ones without a gap. */
export const foldTranscript = (transcript: Transcript, events: readonly LoggedEvent[]): Transcript => {
  for (const [index, event] of events.entries())
    assert(event.seq === transcript.seq + index + 1, `event ${event.seq} follows ${transcript.seq + index}`)
  const { restoration } = transcript.compactions
  const said = withoutUndone(events, restoration.undone)
  const inputOf = (messageID: string) => findAdmitted(transcript.inbox, events, messageID)
  const promptOf = (messageID: string) => inputOf(messageID)?.prompt
  return {
    seq: transcript.seq + events.length,
    title: events.reduce(nextTitle, transcript.title),
    choices: said.reduce(foldChoices, transcript.choices),
    activity: foldActivity(transcript.activity, said, inputOf),
    interruptSeq:
      events.findLast((event) => event.type === "session.next.interrupt.requested.1")?.seq ??
      transcript.interruptSeq,
    inbox: foldInbox(transcript.inbox, events),
    conversation: foldConversation(transcript.conversation, said, {
      promptOf,
      ignored: restoration.ignored,
    }),
    calls: foldCalls(transcript.calls, events),
    surroundings: foldSurroundings(transcript.surroundings, events),
    compactions: foldCompactions(transcript.compactions, events),
    tasks: foldTasks(transcript.tasks, events),
    spending: foldSpending(transcript.spending, events),
    row: foldRow(transcript.row, said),
    parking: foldParking(transcript.parking, said),
    ledger: foldLedger(transcript.ledger, said, promptOf),
    undoing: foldUndoing(transcript.undoing, events),
  }
}

/**
 * What an undo took back no longer belongs to the conversation, the work, the todo list or the ledger. What people have
 * chosen since stays, and so does what the session was told about its place.
 */
const withoutUndone = (events: readonly LoggedEvent[], undone: readonly Span[]): readonly LoggedEvent[] =>
  undone.length === 0 ? events : events.filter(({ seq, type }) => LASTING.has(type) || !isWithin(undone, seq))

const LASTING: ReadonlySet<string> = new Set([
  "session.next.created.1",
  "session.next.agent.switched.1",
  "session.next.model.switched.1",
  "session.next.moved.1",
  "session.next.epoch.started.1",
  "session.next.context.updated.1",
] satisfies readonly LoggedEvent["type"][])

const foldChoices = (choices: Choices, event: LoggedEvent): Choices => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is no choice
  switch (event.type) {
    case "session.next.created.1": {
      const { location, agent, model, recovery, task } = event.data
      return { ...choices, location, agent, model, recovery, task }
    }
    case "session.next.agent.switched.1":
      return { ...choices, agent: event.data.agent }
    case "session.next.model.switched.1":
      return { ...choices, model: event.data.model }
    case "session.next.moved.1":
      return { ...choices, location: event.data.location }
    case "session.next.todo.updated.1":
      return { ...choices, todo: event.data.items }
    default:
      return choices
  }
}

export const openStepOf = ({ conversation }: Transcript): AssistantItem | undefined => {
  const { openStep, items } = conversation
  if (openStep === undefined) return undefined
  const found = items.findLast((item) => item.kind === "assistant" && item.id === openStep)
  return found?.kind === "assistant" ? found : undefined
}

/** A baseline is in force and no later compaction has outdated it. */
export const hasBaseline = ({ surroundings, compactions }: Transcript): boolean =>
  surroundings.epoch !== undefined && compactions.seq <= surroundings.epoch.seq

/**
 * Work that has begun and is not finished although no turn is open: a promoted prompt without an answer, or results the
 * model has not seen.
 */
export const hasUnfinishedWork = ({ conversation, activity }: Transcript): boolean => {
  if (activity.answer.unread) return true
  const last = conversation.items.findLast((item) => item.kind === "user" || item.kind === "assistant")
  if (last === undefined || last.kind === "user") return last !== undefined
  return (
    last.kind === "assistant" &&
    last.error === undefined &&
    last.answered !== true &&
    last.parts.some((part) => part.type === "tool" && !part.hosted)
  )
}
