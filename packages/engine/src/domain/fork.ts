/**
 * What a fork takes along. First a survey of the source finds up to where its history is settled, and which earlier events
 * stay behind. Then each event is rewritten for its new session: ids that are unique in a database change, and sequence
 * numbers follow the events they name.
 */
import {
  messageId,
  permissionRequestId,
  questionId,
  type DurableEvent,
  type MessageId,
  type QuestionId,
  type StoredEvent,
  type UnknownEvent,
} from "@meridian/protocol"

export interface Survey {
  readonly look: (event: StoredEvent | UnknownEvent) => void
  readonly plan: () => ForkPlan
  /** The state of the last message to copy: "open" while its turn or one of its calls is open. */
  readonly found: () => "settled" | "open" | "missing"
}

export interface ForkPlan {
  /** The last sequence before anything that is still open. */
  readonly through: number
  /** Sequences up to `through` that are not copied, ascending. */
  readonly left: readonly number[]
}

/** An event with its time. A copy keeps the time. */
export type DatedEvent = DurableEvent & { readonly time: number }

/**
 * Folds the source in order. A boundary is settled when no step, call or compaction is open. `at`: nothing after this
 * message is copied.
 */
export const surveySource = (at?: string): Survey => {
  let found: ReturnType<Survey["found"]> = at === undefined ? "settled" : "missing"
  const open = new Set<string>()
  const unreadable: number[] = []
  /** Waits that stay behind: a copy does not wait for the source's provider and does not continue on its own. */
  const waits: number[] = []
  const inputs = new Map<string, number>()
  const requested = new Set<number>()
  /** Decided after the last boundary, so undecided at it. */
  let decidedSince: number[] = []
  let through = 0
  let isOver = false
  const left: number[] = []
  let behind: number[] = []

  const decideRequests = (): void => {
    decidedSince.push(...requested)
    requested.clear()
  }

  /** The log may record what the last turn did to files after the next turn has begun. */
  const lookBehind: Survey["look"] = (event) => {
    if (event.type !== "session.next.files.kept.1" || event.data.assistantMessageID !== at)
      return void behind.push(event.seq)
    left.push(...behind)
    behind = []
    through = event.seq
  }

  const look: Survey["look"] = (event) => {
    if (at !== undefined && found === "settled" && !belongsToLast(event)) isOver = true
    if (isOver) return lookBehind(event)
    if (at !== undefined && messageOf(event) === at) found = "open"
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest opens and settles nothing
    switch (event.type) {
      case "unknown":
        unreadable.push(event.seq)
        break
      case "session.next.parked.1":
      case "session.next.activity.resumed.1":
      case "session.next.unparked.1":
      case "session.next.budget.changed.1":
      // The source's children stay with it and report only to it.
      case "session.next.task.started.1":
      case "session.next.task.ended.1":
        waits.push(event.seq)
        break
      case "session.next.question.asked.1":
      case "session.next.question.replied.1":
        if (event.data.callID === undefined) waits.push(event.seq)
        break
      case "session.next.prompt.admitted.1":
        inputs.set(event.data.messageID, event.seq)
        break
      case "session.next.prompt.promoted.1":
      case "session.next.prompt.cancelled.1":
        decidedSince.push(inputs.get(event.data.messageID) ?? 0)
        inputs.delete(event.data.messageID)
        break
      case "session.next.step.started.1":
        open.add(event.data.assistantMessageID)
        break
      case "session.next.step.ended.2":
      case "session.next.step.failed.2":
        open.delete(event.data.assistantMessageID)
        break
      case "session.next.tool.called.1":
        open.add(callKey(event.data))
        break
      case "session.next.tool.success.1":
      case "session.next.tool.failed.1":
        open.delete(callKey(event.data))
        break
      case "session.next.compaction.requested.1":
        requested.add(event.seq)
        break
      case "session.next.compaction.started.1":
        decideRequests()
        open.add(event.data.compactionID)
        break
      case "session.next.undo.started.1":
        open.add(event.data.undoID)
        break
      case "session.next.undo.ended.1":
        open.delete(event.data.undoID)
        break
      case "session.next.compaction.failed.1":
      case "session.next.compaction.ended.2":
        decideRequests()
        open.delete(event.data.compactionID)
        break
      default:
        break
    }
    if (open.size > 0) return
    through = event.seq
    decidedSince = []
    if (found === "open") found = "settled"
  }

  const plan: Survey["plan"] = () => ({
    through,
    left: [...left, ...unreadable, ...waits, ...inputs.values(), ...requested, ...decidedSince]
      .filter((seq) => seq > 0 && seq <= through)
      .toSorted((a, b) => a - b),
  })

  return { look, plan, found: () => found }
}

/** The message that an event makes visible. */
const messageOf = (event: StoredEvent | UnknownEvent): string | undefined => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest makes no message that has a name
  switch (event.type) {
    case "session.next.prompt.promoted.1":
    case "session.next.prompted.1":
    case "session.next.synthetic.1":
    case "session.next.context.updated.1":
      return event.data.messageID
    case "session.next.step.started.1":
      return event.data.assistantMessageID
    case "session.next.compaction.ended.2":
      return event.data.compactionID
    default:
      return undefined
  }
}

/** Facts that are recorded about a message after it has settled. */
const belongsToLast = ({ type }: StoredEvent | UnknownEvent): boolean =>
  type === "session.next.instruction.discovered.1" ||
  type === "session.next.output.given.1" ||
  type === "session.next.output.refused.1"

/** The same fact in the new session; undefined when it stays behind. The caller writes the creation. */
export const rewriteEvent = (
  event: StoredEvent | UnknownEvent,
  plan: ForkPlan,
  rename: (id: string) => string,
): DatedEvent | undefined => {
  if (event.type === "unknown" || event.type === "session.next.created.1") return undefined
  if (event.seq > plan.through || plan.left[countThrough(plan, event.seq) - 1] === event.seq) return undefined
  const message = (id: MessageId): MessageId => messageId(rename(id))
  const { time } = event
  switch (event.type) {
    case "session.next.prompt.admitted.1":
      return { type: event.type, time, data: { ...event.data, messageID: message(event.data.messageID) } }
    case "session.next.prompt.cancelled.1":
      return { type: event.type, time, data: { messageID: message(event.data.messageID) } }
    case "session.next.prompted.1":
      return { type: event.type, time, data: { ...event.data, messageID: message(event.data.messageID) } }
    case "session.next.synthetic.1":
      return { type: event.type, time, data: { ...event.data, messageID: message(event.data.messageID) } }
    case "session.next.context.updated.1":
      return { type: event.type, time, data: { ...event.data, messageID: message(event.data.messageID) } }
    case "session.next.prompt.promoted.1": {
      const { messageID, admittedSeq } = event.data
      const data = { messageID: message(messageID), admittedSeq: moved(plan, admittedSeq) }
      return { type: event.type, time, data }
    }
    case "session.next.permission.asked.1": {
      const requestID = permissionRequestId(rename(event.data.requestID))
      const assistantMessageID = message(event.data.assistantMessageID)
      return { type: event.type, time, data: { ...event.data, requestID, assistantMessageID } }
    }
    case "session.next.permission.replied.1": {
      const requestID = permissionRequestId(rename(event.data.requestID))
      // A permission for the rest of the source session does not hold in the fork.
      const reply = event.data.reply === "session" ? "once" : event.data.reply
      return { type: event.type, time, data: { ...event.data, requestID, reply } }
    }
    case "session.next.activity.resumed.1":
      return { type: event.type, time, data: { ...event.data, activityID: message(event.data.activityID) } }
    case "session.next.question.asked.1":
      return { type: event.type, time, data: ofQuestion(event.data, rename) }
    case "session.next.question.replied.1":
      return { type: event.type, time, data: ofQuestion(event.data, rename) }
    case "session.next.tool.pruned.1": {
      const calls = event.data.calls.map(({ assistantMessageID, callID }) => ({
        assistantMessageID: message(assistantMessageID),
        callID,
      }))
      return { type: event.type, time, data: { ...event.data, calls } }
    }
    case "session.next.compaction.ended.2": {
      const { compactionID, range, kept } = event.data
      const data = {
        ...event.data,
        compactionID: rename(compactionID),
        range: { from: moved(plan, range.from), through: moved(plan, range.through) },
        kept: kept.map(rename),
      }
      return { type: event.type, time, data }
    }
    case "session.next.compaction.started.1":
      return {
        type: event.type,
        time,
        data: { ...event.data, compactionID: rename(event.data.compactionID) },
      }
    case "session.next.compaction.failed.1":
      return {
        type: event.type,
        time,
        data: { ...event.data, compactionID: rename(event.data.compactionID) },
      }
    case "session.next.undo.started.1": {
      const { data } = event
      return { type: event.type, time, data: { ...data, from: moved(plan, data.from) } }
    }
    case "session.next.undo.ended.1": {
      const { data } = event
      return { type: event.type, time, data: { ...data, from: moved(plan, data.from) } }
    }
    case "session.next.compaction.restored.1": {
      const { compactionID } = event.data
      const data = compactionID === undefined ? {} : { compactionID: rename(compactionID) }
      return { type: event.type, time, data }
    }
    case "session.next.agent.switched.1":
    case "session.next.model.switched.1":
    case "session.next.moved.1":
    case "session.next.renamed.1":
    case "session.next.titled.1":
    case "session.next.archived.1":
    case "session.next.interrupt.requested.1":
    case "session.next.todo.updated.1":
    case "session.next.tooling.failed.1":
    case "session.next.epoch.started.1":
    case "session.next.instruction.discovered.1":
    case "session.next.permission.revoked.1":
    case "session.next.warned.1":
    case "session.next.unparked.1":
    case "session.next.budget.changed.1":
    case "session.next.compaction.requested.1":
    case "session.next.execution.failed.1": {
      const { seq: _seq, ...copied } = event
      return copied
    }
    case "session.next.step.started.1":
    case "session.next.step.ended.2":
    case "session.next.step.failed.2":
    case "session.next.retried.1":
    case "session.next.parked.1":
    case "session.next.text.ended.1":
    case "session.next.reasoning.ended.1":
    case "session.next.tool.called.1":
    case "session.next.tool.resumed.1":
    case "session.next.tool.success.1":
    case "session.next.tool.failed.1":
    case "session.next.output.given.1":
    case "session.next.output.refused.1":
    case "session.next.repetition.noticed.1":
    case "session.next.tool.adjusted.1":
    case "session.next.task.started.1":
    case "session.next.task.ended.1":
    case "session.next.files.kept.1":
    case "session.next.files.missed.1":
      return ofAssistant(event, message)
  }
}

const ofQuestion = <Data extends { readonly requestID: string; readonly assistantMessageID?: MessageId }>(
  data: Data,
  rename: (id: string) => string,
): Data & { readonly requestID: QuestionId } => ({
  ...data,
  requestID: questionId(rename(data.requestID)),
  ...(data.assistantMessageID === undefined
    ? {}
    : { assistantMessageID: messageId(rename(data.assistantMessageID)) }),
})

type OfAssistant = Extract<StoredEvent, { readonly data: { readonly assistantMessageID: MessageId } }>

/** Events of one turn. */
const ofAssistant = (event: OfAssistant, message: (id: MessageId) => MessageId): DatedEvent => {
  const { seq: _seq, ...copied } = event
  const data = { ...copied.data, assistantMessageID: message(copied.data.assistantMessageID) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same event, one id in it exchanged for another
  return { ...copied, data } as DatedEvent
}

/** The sequence in the copy. */
const moved = (plan: ForkPlan, seq: number): number => Math.max(1, seq - countThrough(plan, seq))

/** How many events up to a sequence stay behind. */
const countThrough = ({ left }: ForkPlan, seq: number): number => {
  let low = 0
  let high = left.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((left[middle] ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}

const callKey = (data: { readonly assistantMessageID: string; readonly callID: string }): string =>
  `${data.assistantMessageID} ${data.callID}`
