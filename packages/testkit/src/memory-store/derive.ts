/** What a log says, derived from its events on demand: the slow and simple way, to compare a fast one with. */
import {
  NEVER,
  nextTitle,
  type GivenApproval,
  type OpenQuestion,
  type OpenRequest,
  type Placed,
  type SessionSummary,
} from "@meridian/engine/store-port"
import type { AssistantPart, Receipt, SessionMessage, StoredEvent, ToolState } from "@meridian/protocol"

type Stored<Type extends StoredEvent["type"]> = Extract<StoredEvent, { readonly type: Type }>

const is =
  <Type extends StoredEvent["type"]>(...types: readonly Type[]) =>
  (event: StoredEvent): event is Stored<Type> =>
    types.some((type) => type === event.type)

const last = <Type extends StoredEvent["type"]>(events: readonly StoredEvent[], ...types: readonly Type[]) =>
  events.findLast(is(...types))

export const summaryOf = (
  id: string,
  events: readonly StoredEvent[],
): Omit<SessionSummary, "isHeldElsewhere"> => {
  const created = events.find(is("session.next.created.1"))
  const spent = events.filter(
    is(
      "session.next.step.ended.2",
      "session.next.compaction.ended.2",
      "session.next.task.ended.1",
      "session.next.titled.1",
    ),
  )
  const total = (field: keyof SessionSummary["usage"]): number =>
    spent.reduce((sum, { data }) => sum + data.usage[field], 0)
  return {
    id,
    seq: events.length,
    location: last(events, "session.next.moved.1", "session.next.created.1")?.data.location ?? {
      directory: "",
    },
    agent: last(events, "session.next.agent.switched.1", "session.next.created.1")?.data.agent,
    model: last(events, "session.next.model.switched.1", "session.next.created.1")?.data.model,
    title: events.reduce(nextTitle, undefined)?.text,
    isArchived: last(events, "session.next.archived.1")?.data.archived ?? false,
    created: created?.time ?? 0,
    updated: events.at(-1)?.time ?? 0,
    usage: {
      input: total("input"),
      output: total("output"),
      reasoning: total("reasoning"),
      cacheRead: total("cacheRead"),
      cacheWrite: total("cacheWrite"),
    },
    cost: spent.reduce((sum, { data }) => sum + data.cost, 0),
    isAsking: requestsOf(id, events).length > 0,
    question: questionsOf(id, events)[0]?.event.data.kind,
    isAnswered: answersOf(events).length > 0,
    parkedUntil: parkedUntil(events),
    task: taskOf(created),
    trouble: troubleOf(events),
  }
}

const taskOf = (created: Stored<"session.next.created.1"> | undefined): SessionSummary["task"] => {
  const task = created?.data.task
  if (task === undefined) return undefined
  const { sessionID, messageID, callID, depth } = task
  return { sessionID, messageID, callID, depth }
}

/** Until when the session waits for its provider or for an answer. */
export const parkedUntil = (events: readonly StoredEvent[]): number | undefined => {
  const ending = parkingOf(events)
  if (ending?.type === "session.next.parked.1") return Math.round(ending.data.until)
  if (ending?.type === "session.next.question.asked.1") return NEVER
  return ending?.type === "session.next.question.replied.1" ||
    ending?.type === "session.next.activity.resumed.1"
    ? 0
    : undefined
}

/** An undo of the conversation: what was said, and what came of it, no longer belongs to it. */
const isTakenBack = (event: StoredEvent): boolean =>
  event.type === "session.next.undo.ended.1" && event.data.conversation

const parkingOf = (events: readonly StoredEvent[]) =>
  events.findLast(
    (event) =>
      isTakenBack(event) ||
      is(
        "session.next.parked.1",
        "session.next.activity.resumed.1",
        "session.next.step.started.1",
        "session.next.output.given.1",
        "session.next.interrupt.requested.1",
        "session.next.unparked.1",
        "session.next.execution.failed.1",
      )(event) ||
      (is("session.next.question.asked.1", "session.next.question.replied.1")(event) &&
        event.data.callID === undefined),
  )

const troubleOf = (events: readonly StoredEvent[]): SessionSummary["trouble"] => {
  const ending = events.findLast(
    (event) =>
      event.type === "session.next.step.ended.2" ||
      isTakenBack(event) ||
      event.type === "session.next.output.given.1" ||
      event.type === "session.next.step.failed.2" ||
      event.type === "session.next.execution.failed.1" ||
      (event.type === "session.next.tool.failed.1" && event.data.error.code === "interrupted"),
  )
  if (ending === undefined || !("error" in ending.data)) return undefined
  return ending.data.error.code.toUpperCase() === "INTERRUPTED" ? "interrupted" : "failed"
}

const settles = is("session.next.tool.success.1", "session.next.tool.failed.1")

const outcomeOf = (
  events: readonly StoredEvent[],
  call: { readonly assistantMessageID: string; readonly callID: string },
  after: number,
) =>
  events
    .filter(settles)
    .find(
      ({ seq, data }) =>
        seq > after && data.assistantMessageID === call.assistantMessageID && data.callID === call.callID,
    )

export const requestsOf = (session: string, events: readonly StoredEvent[]): readonly OpenRequest[] => {
  const replied = new Set(
    events.filter(is("session.next.permission.replied.1")).map(({ data }) => data.requestID),
  )
  return events
    .filter(is("session.next.permission.asked.1"))
    .filter((event) => !replied.has(event.data.requestID))
    .filter((event) => outcomeOf(events, event.data, event.seq) === undefined)
    .map((event) => ({ session, event }))
}

/** The engine's own questions first. */
export const questionsOf = (session: string, events: readonly StoredEvent[]): readonly OpenQuestion[] => {
  const asked = events.filter(is("session.next.question.asked.1"))
  const replied = new Set(
    events.filter(is("session.next.question.replied.1")).map(({ data }) => data.requestID),
  )
  const ending = parkingOf(events)
  return [
    ...asked.filter((event) => event === ending),
    ...asked.filter(({ seq, data: { requestID, assistantMessageID, callID } }) => {
      if (assistantMessageID === undefined || callID === undefined) return false
      return !replied.has(requestID) && outcomeOf(events, { assistantMessageID, callID }, seq) === undefined
    }),
  ].map((event) => ({ session, event }))
}

export const receiptsOf = (session: string, events: readonly StoredEvent[]): readonly Receipt[] =>
  events.filter(is("session.next.prompt.admitted.1")).map((event) => receiptOf(session, events, event))

const receiptOf = (
  session: string,
  events: readonly StoredEvent[],
  { seq, time, data }: Stored<"session.next.prompt.admitted.1">,
): Receipt => {
  const { messageID, ...input } = data
  const seqOf = (ending: (event: StoredEvent) => boolean): number | undefined => events.find(ending)?.seq
  const promotedSeq = seqOf(
    (event) => event.type === "session.next.prompt.promoted.1" && event.data.messageID === messageID,
  )
  const cancelledSeq = seqOf(
    (event) => event.type === "session.next.prompt.cancelled.1" && event.data.messageID === messageID,
  )
  return {
    id: messageID,
    sessionID: session,
    ...input,
    admittedSeq: seq,
    time,
    ...(promotedSeq === undefined ? {} : { promotedSeq }),
    ...(cancelledSeq === undefined ? {} : { cancelledSeq }),
  }
}

export const isWaiting = ({ promotedSeq, cancelledSeq }: Receipt): boolean =>
  promotedSeq === undefined && cancelledSeq === undefined

/** Answers to questions whose call has not settled. */
const answersOf = (events: readonly StoredEvent[]) =>
  events
    .filter(is("session.next.permission.replied.1", "session.next.question.replied.1"))
    .filter(({ data }) => {
      const question = events
        .filter(is("session.next.permission.asked.1", "session.next.question.asked.1"))
        .find((asked) => asked.data.requestID === data.requestID)
      if (question === undefined) return false
      const { assistantMessageID, callID } = question.data
      if (assistantMessageID === undefined || callID === undefined) return false
      return outcomeOf(events, { assistantMessageID, callID }, question.seq) === undefined
    })

/** An input wants to run, or a call has its answer, and no interrupt came after it. */
export const isRunnable = (session: string, events: readonly StoredEvent[]): boolean => {
  if (parkedUntil(events) !== undefined) return false
  const interruptSeq = last(events, "session.next.interrupt.requested.1")?.seq ?? 0
  return (
    answersOf(events).some(({ seq }) => seq > interruptSeq) ||
    receiptsOf(session, events).some(
      (receipt) => isWaiting(receipt) && receipt.resume && receipt.admittedSeq > interruptSeq,
    )
  )
}

/** What was approved permanently in a session and not revoked there since, oldest first. */
export const approvalsOf = (session: string, events: readonly StoredEvent[]): readonly GivenApproval[] =>
  events
    .filter(is("session.next.permission.replied.1"))
    .flatMap(({ seq, time, data: { saved } }) =>
      saved === undefined
        ? []
        : saved.resources
            .map((resource) => ({ project: saved.project, action: saved.action, resource, session, time }))
            .filter((approval) => !isRevoked(events, seq, approval)),
    )

const isRevoked = (events: readonly StoredEvent[], after: number, approval: GivenApproval): boolean =>
  events
    .filter(is("session.next.permission.revoked.1"))
    .some(({ seq, data }) => seq > after && isSameApproval(data, approval))

export const isSameApproval = (
  left: Pick<GivenApproval, "project" | "action" | "resource">,
  right: Pick<GivenApproval, "project" | "action" | "resource">,
): boolean =>
  left.project === right.project && left.action === right.action && left.resource === right.resource

export const messagesOf = (
  session: string,
  events: readonly StoredEvent[],
): readonly Placed<SessionMessage | undefined>[] =>
  events.flatMap((event) => {
    if (event.type !== "session.next.context.updated.1" && isUndone(events, event.seq)) return []
    const message = messageAt(session, events, event)
    return message === "none" ? [] : [{ place: event.seq, item: message }]
  })

const isUndone = (events: readonly StoredEvent[], seq: number): boolean => {
  const ends = events.filter(is("session.next.undo.ended.1")).filter(({ data }) => data.conversation)
  const redone = new Set(ends.map(({ data }) => data.redoes))
  return ends.some(
    ({ seq: end, data: { action, from, undoID } }) =>
      action === "undo" && !redone.has(undoID) && seq >= from && seq < end,
  )
}

const messageAt = (
  session: string,
  events: readonly StoredEvent[],
  event: StoredEvent,
): SessionMessage | undefined | "none" => {
  const { seq, time } = event
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is no message
  switch (event.type) {
    case "session.next.prompt.promoted.1": {
      const admitted = events[event.data.admittedSeq - 1]
      if (admitted?.type !== "session.next.prompt.admitted.1") return undefined
      return { id: event.data.messageID, seq, time, type: "user", ...admitted.data.prompt }
    }
    case "session.next.prompted.1":
      return { id: event.data.messageID, seq, time, type: "user", ...event.data.prompt }
    case "session.next.synthetic.1":
      return { id: event.data.messageID, seq, time, type: "synthetic", text: event.data.text }
    case "session.next.context.updated.1":
      return { id: event.data.messageID, seq, time, type: "system", text: event.data.text }
    case "session.next.compaction.ended.2": {
      const { compactionID: id, reason, summary, recent } = event.data
      return { id, seq, time, type: "compaction", reason, summary, recent }
    }
    case "session.next.agent.switched.1":
      return { id: `switch_${session}_${seq}`, seq, time, type: "agent-switched", agent: event.data.agent }
    case "session.next.model.switched.1":
      return { id: `switch_${session}_${seq}`, seq, time, type: "model-switched", model: event.data.model }
    case "session.next.step.started.1":
      return assistantAt(session, events, event)
    default:
      return "none"
  }
}

const assistantAt = (
  session: string,
  events: readonly StoredEvent[],
  started: Stored<"session.next.step.started.1">,
): SessionMessage => {
  const { assistantMessageID: id, agent, model } = started.data
  const ended = events
    .filter(is("session.next.step.ended.2", "session.next.step.failed.2"))
    .findLast(({ data }) => data.assistantMessageID === id)
  const given = events
    .filter(is("session.next.output.given.1"))
    .find(({ data }) => data.assistantMessageID === id)
  const next = events.find(({ seq, type }) => seq > started.seq && type === "session.next.step.started.1")
  const own = events.slice(started.seq, next === undefined ? undefined : next.seq - 1)
  return {
    id,
    type: "assistant",
    seq: started.seq,
    time: started.time,
    agent,
    model,
    content: own.flatMap((event) => partAt(session, events, event, id)),
    ...(ended?.type === "session.next.step.ended.2"
      ? { finish: ended.data.finish, usage: ended.data.usage, cost: ended.data.cost }
      : {}),
    ...(ended?.type === "session.next.step.failed.2" ? { error: ended.data.error } : {}),
    ...(given === undefined ? {} : { output: given.data.value }),
  }
}

const partAt = (
  session: string,
  events: readonly StoredEvent[],
  event: StoredEvent,
  messageID: string,
): readonly AssistantPart[] => {
  if (event.type === "session.next.text.ended.1" || event.type === "session.next.reasoning.ended.1") {
    const { assistantMessageID, ...prose } = event.data
    if (assistantMessageID !== messageID) return []
    return [{ type: event.type === "session.next.text.ended.1" ? "text" : "reasoning", ...prose }]
  }
  if (event.type !== "session.next.tool.called.1" || event.data.assistantMessageID !== messageID) return []
  const { assistantMessageID: _owner, ...call } = event.data
  return [{ type: "tool", ...call, state: stateOf(session, events, event) }]
}

const stateOf = (
  session: string,
  events: readonly StoredEvent[],
  called: Stored<"session.next.tool.called.1">,
): ToolState => {
  const outcome = outcomeOf(events, called.data, called.seq)
  if (outcome === undefined) {
    const asking = requestsOf(session, events).find(
      ({ event: { data } }) =>
        data.assistantMessageID === called.data.assistantMessageID && data.callID === called.data.callID,
    )
    return asking === undefined
      ? { status: "running" }
      : { status: "waiting", requestID: asking.event.data.requestID }
  }
  if (outcome.type === "session.next.tool.success.1") {
    const { assistantMessageID: _owner, callID: _call, ...rest } = outcome.data
    return { status: "completed", ...rest }
  }
  const { assistantMessageID: _owner, callID: _call, ...rest } = outcome.data
  return { status: "error", ...rest }
}
