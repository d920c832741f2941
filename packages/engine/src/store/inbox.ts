/** The durable inbox: inputs wait here, outside the model's history, until a drain promotes them. */
import { Failure, messageId, type DurableEvent, type Receipt } from "@meridian/protocol"

import { decideAdmission, type AdmissionRequest } from "../domain/admission.ts"
import { unreachable } from "../domain/assert.ts"
import type { Database, Durability } from "./database.ts"
import type { Log } from "./log.ts"
import { positionOf, seqOf, STRIDE } from "./schema.ts"

export interface Inbox {
  /** Admits, or returns the first receipt for an exact retry. To be acknowledged only when the database is `synced`. */
  readonly admit: (
    request: AdmissionRequest & {
      readonly resume: boolean
      readonly limit: number
      readonly durability: Durability
      /** The id was made for this request, so nobody has used it. */
      readonly isFresh: boolean
    },
  ) => Receipt
  readonly find: (id: string) => Receipt | undefined
  readonly receipts: (key: number) => readonly Receipt[]
  readonly cancel: (sessionID: string, id: string) => Receipt
  /** Sessions with an input that asks to be run and that no interrupt has parked. */
  readonly sessionsToWake: () => readonly string[]
}

export const createInbox = (options: { readonly database: Database; readonly log: Log }): Inbox => {
  const { database, log } = options
  const { raw } = database
  const COLUMNS = `input.*, event.time, event.data, session.id as session
    from input join event on event.id = input.admitted join session on session.key = input.admitted / ${STRIDE}`
  const selectInput = raw.prepare(`select ${COLUMNS} where input.id = ?`)
  const selectReceipts = raw.prepare(
    `select ${COLUMNS} where input.promoted is null and input.cancelled is null and input.admitted between ? and ? order by input.admitted`,
  )
  const countPending = raw.prepare(
    "select count(*) as pending from input where promoted is null and cancelled is null and admitted between ? and ?",
  )
  const selectMessage = raw.prepare("select position from message where id = ?")
  const selectToWake = raw.prepare(
    `select distinct session.id from input join session on session.key = input.admitted / ${STRIDE}
     where input.promoted is null and input.cancelled is null and input.resume = 1
       and input.admitted % ${STRIDE} > session.interrupt_seq`,
  )
  const range = (key: number) => [positionOf(key, 0), positionOf(key, STRIDE - 1)] as const

  const find: Inbox["find"] = (id) => {
    const row = selectInput.get(id)
    return row === undefined ? undefined : receiptOf(row)
  }

  const admit: Inbox["admit"] = (request) =>
    log.write({ sessionID: request.sessionID, durability: request.durability }, ({ session, append }) => {
      const earlier = request.isFresh ? undefined : find(request.id)
      const admission = decideAdmission(request, {
        earlier,
        usedByMessage:
          !request.isFresh && earlier === undefined && selectMessage.get(request.id) !== undefined,
        pending: Number(countPending.get(...range(session.key))?.["pending"]),
        limit: request.limit,
      })
      switch (admission.kind) {
        case "replay":
          return admission.receipt
        case "conflict":
          throw new Failure("PROMPT_CONFLICT", { input: request.id, field: admission.field })
        case "full":
          throw new Failure("INBOX_FULL", { session: request.sessionID, limit: admission.limit })
        case "admit": {
          const { id, prompt, delivery, resume, sessionID } = request
          const event: DurableEvent = {
            type: "session.next.prompt.admitted.1",
            data: { messageID: messageId(id), prompt, delivery, resume },
          }
          const [stored] = append([event])
          return {
            id,
            sessionID,
            prompt,
            delivery,
            resume,
            admittedSeq: stored?.seq ?? 0,
            time: stored?.time ?? 0,
          }
        }
        default:
          return unreachable(admission)
      }
    })

  const cancel: Inbox["cancel"] = (sessionID, id) =>
    log.write({ sessionID, durability: "FULL" }, ({ session, append }) => {
      const receipt = find(id)
      const pending =
        receipt !== undefined &&
        receipt.sessionID === session.id &&
        receipt.promotedSeq === undefined &&
        receipt.cancelledSeq === undefined
      if (!pending) throw new Failure("INPUT_NOT_FOUND", { session: sessionID, input: id })
      const [stored] = append([
        { type: "session.next.prompt.cancelled.1", data: { messageID: messageId(id) } },
      ])
      return { ...receipt, cancelledSeq: stored?.seq ?? 0 }
    })

  return {
    admit,
    find,
    cancel,
    receipts: (key) => selectReceipts.all(...range(key)).map(receiptOf),
    sessionsToWake: () => selectToWake.all().map((row) => String(row["id"])),
  }
}

const receiptOf = (row: Readonly<Record<string, unknown>>): Receipt => {
  // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- codec of the input row: our own admitted event
  const data = JSON.parse(String(row["data"])) as Pick<Receipt, "prompt">
  const promoted = row["promoted"]
  const cancelled = row["cancelled"]
  return {
    id: String(row["id"]),
    sessionID: String(row["session"]),
    prompt: data.prompt,
    delivery: row["delivery"] === "queue" ? "queue" : "steer",
    resume: row["resume"] === 1,
    admittedSeq: seqOf(Number(row["admitted"])),
    time: Number(row["time"]),
    ...(typeof promoted === "number" ? { promotedSeq: seqOf(promoted) } : {}),
    ...(typeof cancelled === "number" ? { cancelledSeq: seqOf(cancelled) } : {}),
  }
}
