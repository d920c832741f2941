/** The lists across all sessions: sessions, inputs, open requests, approvals. */
import type { Receipt } from "@meridian/protocol"

import { parentCall } from "../../domain/parent-call.ts"
import type { GivenApproval, SavedApproval } from "../../domain/permission.ts"
import type {
  InputRange,
  OpenQuestion,
  OpenRequest,
  Parked,
  Placed,
  SessionSummary,
  Stretch,
} from "../../port/store.ts"
import type { Database } from "./database.ts"
import { eventOf, type EventReader, type Row } from "./events.ts"
import { positionOf, seqOf, STRIDE } from "./schema.ts"

export interface Lists {
  readonly session: (id: string) => SessionSummary | undefined
  readonly sessions: (stretch: Stretch) => readonly Placed<SessionSummary>[]
  readonly inputs: (session: string, range?: InputRange) => readonly Receipt[]
  readonly input: (id: string) => Receipt | undefined
  readonly requests: (session?: string) => readonly OpenRequest[]
  readonly request: (id: string) => OpenRequest | undefined
  readonly questions: (session?: string) => readonly OpenQuestion[]
  readonly approvals: (project: string) => readonly SavedApproval[]
  readonly givenApprovals: () => readonly GivenApproval[]
  readonly approvedIn: (approval: SavedApproval & { readonly project: string }) => readonly string[]
  readonly runnable: () => readonly string[]
  readonly parked: () => readonly Parked[]
}

export const createLists = (options: {
  readonly database: Database
  readonly log: EventReader
  readonly isHeldElsewhere: (key: number) => boolean
}): Lists => {
  const { log, isHeldElsewhere } = options
  const { raw } = options.database
  const selectSession = raw.prepare("select * from session where id = ?")
  const sessionsUp = raw.prepare("select * from session where key > ? order by key limit ?")
  const sessionsDown = raw.prepare("select * from session where key < ? order by key desc limit ?")

  const INPUTS = `select input.*, event.id as position, event.type, event.time, event.data, session.id as session
    from input join event on event.id = input.admitted join session on session.key = input.admitted / ${STRIDE}`
  const WAITING = "input.promoted is null and input.cancelled is null"
  const selectInput = raw.prepare(`${INPUTS} where input.id = ?`)
  const selectInputs = raw.prepare(
    `${INPUTS} where ${WAITING} and input.admitted > ? and input.admitted <= ? order by input.admitted limit ?`,
  )
  const ANSWERED = "request.replied is not null and request.withdrawn = 0"
  const selectRunnable = raw.prepare(
    `select session.id from input join session on session.key = input.admitted / ${STRIDE}
     where ${WAITING} and input.resume = 1 and input.admitted % ${STRIDE} > session.interrupt_seq
       and session.parked_until is null
     union
     select session.id from request join session on session.key = request.asked / ${STRIDE}
     where ${ANSWERED} and request.replied % ${STRIDE} > session.interrupt_seq
       and session.parked_until is null`,
  )
  const selectParked = raw.prepare(
    "select id, parked_until from session where parked_until is not null order by parked_until",
  )
  const answeredRequest = raw.prepare(
    `select 1 from request where ${ANSWERED} and request.asked between ? and ? limit 1`,
  )

  const REQUESTS = `select request.id as request, session.id as session, event.id, event.type, event.time, event.data
     from request join event on event.id = request.asked join session on session.key = request.asked / ${STRIDE}
     where request.replied is null and request.withdrawn = 0`
  const allRequests = raw.prepare(`${REQUESTS} order by request.asked`)
  const sessionRequests = raw.prepare(`${REQUESTS} and request.asked between ? and ? order by request.asked`)
  const oneRequest = raw.prepare(`${REQUESTS} and request.id = ?`)
  const PAUSES = `select session.id as session, event.id, event.type, event.time, event.data
     from session join event on event.id = session.key * ${STRIDE} + session.question_seq
     where session.question_seq is not null`
  const allPauses = raw.prepare(`${PAUSES} order by session.key`)
  const sessionPauses = raw.prepare(`${PAUSES} and session.key = ?`)
  const selectApprovals = raw.prepare(
    "select action, resource from approval where project = ? order by position",
  )
  const selectGiven = raw.prepare(
    `select approval.*, event.time, session.id as session from approval
     join event on event.id = approval.position join session on session.key = approval.position / ${STRIDE}
     order by approval.position`,
  )
  // Scans the whole log, which is rare: the table holds only the first session that gave the approval.
  const selectApprovedIn = raw.prepare(
    `select distinct session.id from event
     join session on session.key = event.id / ${STRIDE}, json_each(event.data, '$.saved.resources') as saved
     where event.type = 'session.next.permission.replied.1' and saved.value = ?
       and json_extract(event.data, '$.saved.project') = ? and json_extract(event.data, '$.saved.action') = ?`,
  )

  const range = (key: number) => [positionOf(key, 0), positionOf(key, STRIDE - 1)] as const

  const troubleOf = (key: number, failedSeq: unknown): SessionSummary["trouble"] => {
    if (typeof failedSeq !== "number") return undefined
    const failed = log.at(positionOf(key, failedSeq))
    const wasInterrupted =
      ((failed?.type === "session.next.step.failed.2" ||
        failed?.type === "session.next.execution.failed.1") &&
        failed.data.error.code === "INTERRUPTED") ||
      (failed?.type === "session.next.tool.failed.1" && failed.data.error.code === "interrupted")
    return wasInterrupted ? "interrupted" : "failed"
  }

  const taskOf = (key: number): SessionSummary["task"] => {
    const created = log.at(positionOf(key, 1))
    return created?.type === "session.next.created.1" ? parentCall(created.data.task) : undefined
  }

  const questionsIn = (key: number): readonly OpenQuestion[] =>
    [...sessionPauses.all(key), ...sessionRequests.all(...range(key))].flatMap(questionOf)

  const summaryOf = (row: Row): SessionSummary => {
    const key = Number(row["key"])
    const asked = sessionRequests.all(...range(key))
    const isPaused = row["question_seq"] !== null
    return {
      id: String(row["id"]),
      seq: Number(row["seq"]),
      location: {
        directory: String(row["directory"]),
        ...(typeof row["workspace"] === "string" ? { workspaceID: row["workspace"] } : {}),
      },
      agent: optionalText(row["agent"]),
      model: optionalText(row["model"]),
      title: optionalText(row["title"]),
      isArchived: row["archived"] === 1,
      created: Number(row["created"]),
      updated: Number(row["updated"]),
      usage: {
        input: Number(row["input_tokens"]),
        output: Number(row["output_tokens"]),
        reasoning: Number(row["reasoning_tokens"]),
        cacheRead: Number(row["cache_read_tokens"]),
        cacheWrite: Number(row["cache_write_tokens"]),
      },
      cost: Number(row["cost"]),
      isAsking: asked.some(({ type }) => type === "session.next.permission.asked.1"),
      question: isPaused || asked.length > 0 ? questionsIn(key)[0]?.event.data.kind : undefined,
      isAnswered: answeredRequest.get(...range(key)) !== undefined,
      parkedUntil: typeof row["parked_until"] === "number" ? row["parked_until"] : undefined,
      isHeldElsewhere: isHeldElsewhere(key),
      task: taskOf(key),
      trouble: troubleOf(key, row["failed_seq"]),
    }
  }

  return {
    session: (id) => {
      const row = selectSession.get(id)
      return row === undefined ? undefined : summaryOf(row)
    },
    sessions: ({ direction, from, limit }) => {
      const rows =
        direction === "up" ? sessionsUp.all(from ?? 0, limit) : sessionsDown.all(from ?? STRIDE, limit)
      return rows.map((row) => ({ place: Number(row["key"]), item: summaryOf(row) }))
    },
    inputs: (session, { after, limit, bytes } = ALL_INPUTS) => {
      const key = log.keyOf(session)
      if (key === undefined) return []
      const receipts: Receipt[] = []
      let sum = 0
      // One row at a time: the next prompt may be too large to read in vain.
      for (const row of selectInputs.iterate(positionOf(key, after), positionOf(key, STRIDE - 1), limit)) {
        receipts.push(...receiptOf(row))
        sum += String(row["data"]).length
        if (sum >= bytes) break
      }
      return receipts
    },
    input: (id) => selectInput.all(id).flatMap(receiptOf)[0],
    requests: (session) => {
      if (session === undefined) return allRequests.all().flatMap(requestOf)
      const key = log.keyOf(session)
      return key === undefined ? [] : sessionRequests.all(...range(key)).flatMap(requestOf)
    },
    request: (id) => oneRequest.all(id).flatMap(requestOf)[0],
    questions: (session) => {
      if (session === undefined) return [...allPauses.all(), ...allRequests.all()].flatMap(questionOf)
      const key = log.keyOf(session)
      return key === undefined ? [] : questionsIn(key)
    },
    approvals: (project) =>
      selectApprovals
        .all(project)
        .map((row) => ({ action: String(row["action"]), resource: String(row["resource"]) })),
    givenApprovals: () =>
      selectGiven.all().map((row) => ({
        project: String(row["project"]),
        action: String(row["action"]),
        resource: String(row["resource"]),
        session: String(row["session"]),
        time: Number(row["time"]),
      })),
    approvedIn: ({ project, action, resource }) =>
      selectApprovedIn.all(resource, project, action).map((row) => String(row["id"])),
    runnable: () => selectRunnable.all().map((row) => String(row["id"])),
    parked: () =>
      selectParked.all().map((row) => ({ session: String(row["id"]), until: Number(row["parked_until"]) })),
  }
}

const ALL_INPUTS: InputRange = { after: 0, limit: -1, bytes: Number.POSITIVE_INFINITY }

const optionalText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const requestOf = (row: Row): readonly OpenRequest[] => {
  const event = eventOf(row)
  return event.type === "session.next.permission.asked.1" ? [{ session: String(row["session"]), event }] : []
}

const questionOf = (row: Row): readonly OpenQuestion[] => {
  const event = eventOf(row)
  return event.type === "session.next.question.asked.1" ? [{ session: String(row["session"]), event }] : []
}

const receiptOf = (row: Row): readonly Receipt[] => {
  const admitted = eventOf({ ...row, id: row["position"] })
  if (admitted.type !== "session.next.prompt.admitted.1") return []
  const { messageID: _id, ...input } = admitted.data
  const { promoted, cancelled } = row
  return [
    {
      id: String(row["id"]),
      sessionID: String(row["session"]),
      ...input,
      admittedSeq: admitted.seq,
      time: admitted.time,
      ...(typeof promoted === "number" ? { promotedSeq: seqOf(promoted) } : {}),
      ...(typeof cancelled === "number" ? { cancelledSeq: seqOf(cancelled) } : {}),
    },
  ]
}
