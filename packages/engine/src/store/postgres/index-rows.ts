/**
 * What events change in the tables beside the log: names, inputs and questions that come and go, approvals. Pure, and
 * derived only from the events: the same events always change the same rows.
 */
import type { DurableEvent } from "@meridian/protocol"

import type { Claim } from "../../domain/claims.ts"

/** One event with its place in the log. */
export type NumberedEvent = DurableEvent & { readonly seq: number; readonly time: number }

export interface IndexRows {
  /** Each names only one thing. A claimed name must be unused. */
  readonly names: readonly { kind: Claim["kind"]; id: string; seq: number; claimed: boolean }[]
  readonly inputs: readonly { id: string; seq: number; resume: boolean; time: number }[]
  readonly doneInputs: readonly { id: string }[]
  /** A question is a row until its call settles. `replied`: the sequence of its answer. */
  readonly requests: readonly {
    id: string
    seq: number
    message: string
    call: string
    replied: number | null
  }[]
  readonly replies: readonly { id: string; seq: number }[]
  readonly settled: readonly { message: string; call: string }[]
  readonly approvals: readonly ApprovalRow[]
  readonly revoked: readonly Omit<ApprovalRow, "seq" | "time">[]
  /** The last interrupt among the events; 0 without one. */
  readonly interruptSeq: number
}

export interface ApprovalRow {
  readonly project: string
  readonly action: string
  readonly resource: string
  readonly seq: number
  readonly time: number
}

export const indexRowsOf = (events: readonly NumberedEvent[]): IndexRows => {
  const inputs = new Map<string, IndexRows["inputs"][number]>()
  const doneInputs: { id: string }[] = []
  const names: IndexRows["names"][number][] = []
  const requests = new Map<string, IndexRows["requests"][number]>()
  const replies: IndexRows["replies"][number][] = []
  const settled: IndexRows["settled"][number][] = []
  const approvals: ApprovalRow[] = []
  const revoked: IndexRows["revoked"][number][] = []
  let interruptSeq = 0

  const name = (kind: Claim["kind"], id: string, seq: number, claimed: boolean): void => {
    names.push({ kind, id: indexed(id), seq, claimed })
  }
  /** What comes and goes within one append never becomes a row. */
  const endInput = (id: string): void => {
    if (!inputs.delete(id)) doneInputs.push({ id: indexed(id) })
  }
  const reply = (id: string, seq: number): void => {
    const asked = requests.get(id)
    if (asked === undefined) replies.push({ id: indexed(id), seq })
    else requests.set(id, { ...asked, replied: seq })
  }
  const endRequestOf = (message: string, call: string): void => {
    for (const [id, request] of requests)
      if (request.message === indexed(message) && request.call === indexed(call)) requests.delete(id)
    settled.push({ message: indexed(message), call: indexed(call) })
  }

  for (const { seq, time, ...event } of events)
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others change none of these rows
    switch (event.type) {
      case "session.next.prompt.admitted.1": {
        const { messageID, resume } = event.data
        name("input", messageID, seq, true)
        inputs.set(messageID, { id: indexed(messageID), seq, resume, time })
        break
      }
      case "session.next.prompt.promoted.1":
      case "session.next.prompt.cancelled.1":
        endInput(event.data.messageID)
        break
      case "session.next.prompted.1":
      case "session.next.context.updated.1":
        name("input", event.data.messageID, seq, false)
        break
      case "session.next.synthetic.1":
        name("input", event.data.messageID, seq, true)
        break
      case "session.next.step.started.1":
        name("input", event.data.assistantMessageID, seq, false)
        break
      case "session.next.compaction.ended.2":
        name("input", event.data.compactionID, seq, false)
        break
      case "session.next.interrupt.requested.1":
        interruptSeq = seq
        break
      case "session.next.permission.asked.1":
      case "session.next.question.asked.1": {
        const { requestID, assistantMessageID, callID } = event.data
        // The engine's own questions are in the session's summary.
        if (assistantMessageID === undefined || callID === undefined) break
        name("request", requestID, seq, true)
        requests.set(requestID, {
          id: indexed(requestID),
          seq,
          message: indexed(assistantMessageID),
          call: indexed(callID),
          replied: null,
        })
        break
      }
      case "session.next.question.replied.1":
        if (event.data.callID !== undefined) reply(event.data.requestID, seq)
        break
      case "session.next.permission.replied.1": {
        const { requestID, saved } = event.data
        reply(requestID, seq)
        for (const resource of saved?.resources ?? [])
          approvals.push({
            project: indexed(saved?.project ?? ""),
            action: indexed(saved?.action ?? ""),
            resource: indexed(resource),
            seq,
            time,
          })
        break
      }
      case "session.next.permission.revoked.1": {
        const { project, action, resource } = event.data
        revoked.push({ project: indexed(project), action: indexed(action), resource: indexed(resource) })
        break
      }
      case "session.next.tool.success.1":
      case "session.next.tool.failed.1":
        endRequestOf(event.data.assistantMessageID, event.data.callID)
        break
      default:
    }
  return {
    names,
    inputs: [...inputs.values()],
    doneInputs,
    requests: [...requests.values()],
    replies,
    settled,
    approvals,
    revoked,
    interruptSeq,
  }
}

/** The server's text type knows neither NUL nor half characters. The log keeps them, escaped; these rows need not. */
export const indexed = (text: string): string => text.toWellFormed().replaceAll("\0", "\uFFFD")
