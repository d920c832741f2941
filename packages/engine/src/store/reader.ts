/** Reading: pages of events and messages, lists of sessions and open requests. Never writes. */
import {
  decodeEvent,
  eventText,
  type AssistantPart,
  type SessionMessage,
  type StoredEvent,
  type ToolState,
  type UnknownEvent,
} from "@meridian/protocol"

import type { SavedApproval } from "../domain/permission.ts"
import { decodeCursor, encodeCursor, type Place } from "./cursor.ts"
import { guarded, type Database } from "./database.ts"
import { sessionRow, type SessionRow } from "./log.ts"
import { keyOf, positionOf, seqOf, STRIDE } from "./schema.ts"

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next?: string
  readonly previous?: string
}

export interface PageRequest {
  readonly cursor?: string
  readonly limit: number
  readonly order: "asc" | "desc"
}

export interface RequestRow {
  readonly sessionID: string
  readonly event: Extract<StoredEvent, { readonly type: "session.next.permission.asked.1" }>
}

/** One event as `JSON.stringify` would write it. */
export interface EventText {
  readonly seq: number
  readonly text: string
}

export interface Reader {
  readonly events: (key: number, after: number, limit: number) => readonly (StoredEvent | UnknownEvent)[]
  /** The same as JSON, for those who pass them on. */
  readonly eventTexts: (key: number, after: number, limit: number) => readonly EventText[]
  /** Every compaction event of a session, in order. */
  readonly compactions: (key: number) => readonly (StoredEvent | UnknownEvent)[]
  readonly messages: (session: SessionRow, page: PageRequest) => Page<SessionMessage>
  readonly message: (key: number, id: string) => SessionMessage | undefined
  readonly sessions: (page: PageRequest) => Page<SessionRow>
  readonly openRequests: (key?: number) => readonly RequestRow[]
  readonly openRequest: (id: string) => RequestRow | undefined
  readonly approvals: (project: string) => readonly SavedApproval[]
  /** Changes whenever another connection has committed. */
  readonly foreignVersion: () => number
}

type Row = Readonly<Record<string, unknown>>

export const createReader = (database: Database): Reader => {
  const { raw, file } = database
  const selectEvents = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? order by id limit ?",
  )
  const selectCompactions = raw.prepare(
    "select id, type, time, data from event where id > ? and id < ? and type like 'session.next.compaction.%' order by id",
  )
  const selectEvent = raw.prepare("select id, type, time, data from event where id = ?")
  const selectMessage = raw.prepare("select * from message where id = ? and position between ? and ?")
  const messagesUp = raw.prepare(
    "select * from message where position > ? and position < ? order by position limit ?",
  )
  const messagesDown = raw.prepare(
    "select * from message where position > ? and position < ? order by position desc limit ?",
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
  const nextMessage = raw.prepare(
    "select position from message where position > ? and type = 'assistant' order by position limit 1",
  )
  const sessionsUp = raw.prepare("select * from session where key > ? order by key limit ?")
  const sessionsDown = raw.prepare("select * from session where key < ? order by key desc limit ?")
  const REQUESTS = `select request.id as request, session.id as session, event.id, event.type, event.time, event.data
     from request join event on event.id = request.asked join session on session.key = request.asked / ${STRIDE}
     where request.replied is null and request.withdrawn = 0`
  const allRequests = raw.prepare(`${REQUESTS} order by request.asked`)
  const sessionRequests = raw.prepare(`${REQUESTS} and request.asked between ? and ? order by request.asked`)
  const oneRequest = raw.prepare(`${REQUESTS} and request.id = ?`)
  const selectApprovals = raw.prepare(
    "select action, resource from approval where project = ? order by position",
  )
  const dataVersion = raw.prepare("pragma data_version")

  const eventAt = (position: number) => {
    const row = selectEvent.get(position)
    return row === undefined ? undefined : eventOf(row)
  }

  const assistantOf = (row: Row): SessionMessage | undefined => {
    const position = Number(row["position"])
    const started = eventAt(position)
    if (started?.type !== "session.next.step.started.1") return undefined
    const end = Number(nextMessage.get(position)?.["position"] ?? (keyOf(position) + 1) * STRIDE)
    // A call settled late keeps its place: parts lie where they were created.
    const bound = Math.min(end, (keyOf(position) + 1) * STRIDE)
    const content = selectParts.all(position, bound, position).flatMap(partOf)
    const ended = typeof row["ended"] === "number" ? eventAt(row["ended"]) : undefined
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
    }
  }

  const messageOf = (row: Row): SessionMessage | undefined => {
    if (row["type"] === "assistant") return assistantOf(row)
    const position = Number(row["position"])
    const event = eventAt(position)
    const base = { id: String(row["id"]), seq: seqOf(position), time: event?.time ?? 0 }
    if (event?.type === "session.next.prompt.promoted.1") {
      const admitted = eventAt(positionOf(keyOf(position), event.data.admittedSeq))
      if (admitted?.type !== "session.next.prompt.admitted.1") return undefined
      return { ...base, type: "user", ...admitted.data.prompt }
    }
    if (event?.type === "session.next.prompted.1") return { ...base, type: "user", ...event.data.prompt }
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

  const messages: Reader["messages"] = (session, request) =>
    guarded(file, () => {
      const list = `messages:${session.id}`
      const place: Place =
        request.cursor === undefined
          ? {
              list,
              order: request.order,
              direction: "forward",
              position: request.order === "asc" ? 0 : STRIDE - 1,
            }
          : decodeCursor(request.cursor, list)
      const upward = (place.order === "asc") === (place.direction === "forward")
      const [low, high] = upward
        ? [positionOf(session.key, place.position), positionOf(session.key, STRIDE - 1)]
        : [positionOf(session.key, 0), positionOf(session.key, place.position)]
      const found = (upward ? messagesUp : messagesDown).all(low, high, request.limit + 1)
      const more = found.length > request.limit
      const rows = found.slice(0, request.limit)
      if (place.direction === "backward") rows.reverse()
      const items = rows.flatMap((row) => messageOf(row) ?? [])
      return {
        items,
        ...links({
          place,
          more,
          first: rows[0] === undefined ? undefined : seqOf(Number(rows[0]["position"])),
          last: rows.at(-1) === undefined ? undefined : seqOf(Number(rows.at(-1)?.["position"])),
          fresh: request.cursor === undefined,
        }),
      }
    })

  const sessions: Reader["sessions"] = (request) =>
    guarded(file, () => {
      const list = "sessions"
      const place: Place =
        request.cursor === undefined
          ? {
              list,
              order: request.order,
              direction: "forward",
              position: request.order === "asc" ? 0 : STRIDE,
            }
          : decodeCursor(request.cursor, list)
      const upward = (place.order === "asc") === (place.direction === "forward")
      const found = (upward ? sessionsUp : sessionsDown).all(place.position, request.limit + 1)
      const more = found.length > request.limit
      const items = found.slice(0, request.limit).map(sessionRow)
      if (place.direction === "backward") items.reverse()
      return {
        items,
        ...links({
          place,
          more,
          first: items[0]?.key,
          last: items.at(-1)?.key,
          fresh: request.cursor === undefined,
        }),
      }
    })

  const requestOf = (row: Row): readonly RequestRow[] => {
    const event = eventOf(row)
    return event.type === "session.next.permission.asked.1"
      ? [{ sessionID: String(row["session"]), event }]
      : []
  }

  return {
    events: (key, after, limit) =>
      guarded(file, () =>
        selectEvents.all(positionOf(key, after), (key + 1) * STRIDE, limit).map((row) => eventOf(row)),
      ),
    eventTexts: (key, after, limit) =>
      guarded(file, () =>
        selectEvents.all(positionOf(key, after), (key + 1) * STRIDE, limit).map((row) => textOf(row)),
      ),
    compactions: (key) =>
      guarded(file, () =>
        selectCompactions.all(positionOf(key, 0), (key + 1) * STRIDE).map((row) => eventOf(row)),
      ),
    messages,
    message: (key, id) =>
      guarded(file, () => {
        const row = selectMessage.get(id, positionOf(key, 0), positionOf(key, STRIDE - 1))
        return row === undefined ? undefined : messageOf(row)
      }),
    sessions,
    openRequests: (key) =>
      guarded(file, () =>
        (key === undefined
          ? allRequests.all()
          : sessionRequests.all(positionOf(key, 0), positionOf(key, STRIDE - 1))
        ).flatMap(requestOf),
      ),
    openRequest: (id) => guarded(file, () => oneRequest.all(id).flatMap(requestOf)[0]),
    approvals: (project) =>
      guarded(file, () =>
        selectApprovals
          .all(project)
          .map((row) => ({ action: String(row["action"]), resource: String(row["resource"]) })),
      ),
    foreignVersion: () => Number(dataVersion.get()?.["data_version"]),
  }
}

const eventOf = (row: Row): StoredEvent | UnknownEvent =>
  decodeEvent({
    seq: seqOf(Number(row["id"])),
    type: String(row["type"]),
    time: Number(row["time"]),
    data: String(row["data"]),
  })

const textOf = (row: Row): EventText => {
  const seq = seqOf(Number(row["id"]))
  return {
    seq,
    text: eventText({
      seq,
      type: String(row["type"]),
      time: Number(row["time"]),
      data: String(row["data"]),
    }),
  }
}

const partOf = (row: Row): readonly AssistantPart[] => {
  const event = eventOf({ id: row["position"], type: row["type"], time: row["time"], data: row["data"] })
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

/** No `next` on the last page, no `previous` on the first. */
const links = (seen: {
  readonly place: Place
  readonly more: boolean
  readonly first: number | undefined
  readonly last: number | undefined
  readonly fresh: boolean
}): { next?: string; previous?: string } => {
  const { place, more, first, last, fresh } = seen
  const forward = place.direction === "forward"
  const hasNext = forward ? more : true
  const hasPrevious = forward ? !fresh : more
  return {
    ...(hasNext && last !== undefined
      ? { next: encodeCursor({ ...place, direction: "forward", position: last }) }
      : {}),
    ...(hasPrevious && first !== undefined
      ? { previous: encodeCursor({ ...place, direction: "backward", position: first }) }
      : {}),
  }
}
