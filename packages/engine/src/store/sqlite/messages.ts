/** Messages as people read them, assembled from the events that their rows point at. */
import type { AssistantPart, SessionMessage, ToolState } from "@meridian/protocol"

import type { Placed, Stretch } from "../../port/store.ts"
import type { Database } from "./database.ts"
import { eventOf, type EventReader, type Row } from "./events.ts"
import { keyOf, positionOf, seqOf, STRIDE } from "./schema.ts"

export interface MessageReader {
  readonly messages: (session: string, stretch: Stretch) => readonly Placed<SessionMessage | undefined>[]
  readonly message: (session: string, id: string) => SessionMessage | undefined
}

export const createMessageReader = ({ raw }: Database, log: EventReader): MessageReader => {
  const selectMessage = raw.prepare("select * from message where id = ? and position between ? and ?")
  const messagesUp = raw.prepare(
    "select * from message where position > ? and position < ? and undone is null order by position limit ?",
  )
  const messagesDown = raw.prepare(
    "select * from message where position > ? and position < ? and undone is null order by position desc limit ?",
  )
  const selectParts = raw.prepare(
    `select part.*, called.type, called.time, called.data, settled.id as settled_id, settled.type as settled_type,
            settled.time as settled_time, settled.data as settled_data,
            (select request.id from request where request.message = part.message and request.call = part.call
               and request.replied is null and request.withdrawn = 0) as request
     from part join event as called on called.id = part.position
     left join event as settled on settled.id = part.settled
     where part.position > ? and part.position < ? and part.message = ? order by part.position`,
  )
  const nextTurn = raw.prepare(
    "select position from message where position > ? and type = 'assistant' order by position limit 1",
  )

  const assistantOf = (row: Row): SessionMessage | undefined => {
    const position = Number(row["position"])
    const started = log.at(position)
    if (started?.type !== "session.next.step.started.1") return undefined
    const endOfSession = (keyOf(position) + 1) * STRIDE
    // Parts are stored where they were created, between this turn and the next.
    const end = Math.min(Number(nextTurn.get(position)?.["position"] ?? endOfSession), endOfSession)
    const content = selectParts.all(position, end, position).flatMap(partOf)
    const ended = typeof row["ended"] === "number" ? log.at(row["ended"]) : undefined
    const given = typeof row["output"] === "number" ? log.at(row["output"]) : undefined
    return {
      id: started.data.assistantMessageID,
      type: "assistant",
      seq: started.seq,
      time: started.time,
      agent: started.data.agent,
      model: started.data.model,
      content,
      ...(ended?.type === "session.next.step.ended.2"
        ? { finish: ended.data.finish, usage: ended.data.usage, cost: ended.data.cost }
        : {}),
      ...(ended?.type === "session.next.step.failed.2" ? { error: ended.data.error } : {}),
      ...(given?.type === "session.next.output.given.1" ? { output: given.data.value } : {}),
    }
  }

  const messageOf = (row: Row): SessionMessage | undefined => {
    if (row["type"] === "assistant") return assistantOf(row)
    const position = Number(row["position"])
    const event = log.at(position)
    const base = { id: String(row["id"]), seq: seqOf(position), time: event?.time ?? 0 }
    if (event?.type === "session.next.prompt.promoted.1") {
      const admitted = log.at(positionOf(keyOf(position), event.data.admittedSeq))
      if (admitted?.type !== "session.next.prompt.admitted.1") return undefined
      return { ...base, type: "user", ...admitted.data.prompt }
    }
    if (event?.type === "session.next.prompted.1") return { ...base, type: "user", ...event.data.prompt }
    if (event?.type === "session.next.synthetic.1")
      return { ...base, type: "synthetic", text: event.data.text }
    if (event?.type === "session.next.context.updated.1")
      return { ...base, type: "system", text: event.data.text }
    if (event?.type === "session.next.compaction.ended.2") {
      const { reason, summary, recent } = event.data
      return { ...base, type: "compaction", reason, summary, recent }
    }
    if (event?.type === "session.next.agent.switched.1")
      return { ...base, type: "agent-switched", agent: event.data.agent }
    if (event?.type === "session.next.model.switched.1")
      return { ...base, type: "model-switched", model: event.data.model }
    return undefined
  }

  return {
    messages: (session, { direction, from, limit }) => {
      const key = log.keyOf(session)
      if (key === undefined) return []
      const [low, high] =
        direction === "up"
          ? [positionOf(key, from ?? 0), positionOf(key, STRIDE - 1)]
          : [positionOf(key, 0), positionOf(key, from ?? STRIDE - 1)]
      const rows = (direction === "up" ? messagesUp : messagesDown).all(low, high, limit)
      return rows.map((row) => ({ place: seqOf(Number(row["position"])), item: messageOf(row) }))
    },
    message: (session, id) => {
      const key = log.keyOf(session)
      if (key === undefined) return undefined
      const row = selectMessage.get(id, positionOf(key, 0), positionOf(key, STRIDE - 1))
      return row === undefined ? undefined : messageOf(row)
    },
  }
}

const partOf = (row: Row): readonly AssistantPart[] => {
  const event = eventOf({ ...row, id: row["position"] })
  if (event.type === "session.next.text.ended.1" || event.type === "session.next.reasoning.ended.1") {
    const { assistantMessageID: _owner, ...prose } = event.data
    return [{ type: event.type === "session.next.text.ended.1" ? "text" : "reasoning", ...prose }]
  }
  if (event.type === "session.next.tool.called.1") {
    const { assistantMessageID: _owner, ...call } = event.data
    return [{ type: "tool", ...call, state: toolState(row) }]
  }
  return []
}

const toolState = (row: Row): ToolState => {
  if (typeof row["settled_id"] !== "number")
    return typeof row["request"] === "string"
      ? { status: "waiting", requestID: row["request"] }
      : { status: "running" }
  const event = eventOf({
    id: row["settled_id"],
    type: row["settled_type"],
    time: row["settled_time"],
    data: row["settled_data"],
  })
  if (event.type === "session.next.tool.success.1") {
    const { assistantMessageID: _owner, callID: _call, ...rest } = event.data
    return { status: "completed", ...rest }
  }
  if (event.type === "session.next.tool.failed.1") {
    const { assistantMessageID: _owner, callID: _call, ...rest } = event.data
    return { status: "error", ...rest }
  }
  return { status: "running" }
}
