/**
 * Sessions that are written before they exist: a fork or an import of any length. A draft is an unpublished session under a
 * name that nobody can ask for; publishing gives it its real name. The next node to look deletes what a lost node left.
 */
import { Failure } from "@meridian/protocol"

import type { DatedEvent } from "../../domain/fork.ts"
import type { Creation } from "../../port/store.ts"
import { sendWrites } from "./append.ts"
import { isUniqueViolation, type Connection } from "./connection.ts"
import { prepareWrite } from "./prepare-write.ts"
import { NO_SUMMARY, summaryText } from "./summary.ts"
import type { Workers } from "./workers.ts"

export interface ServerDraft {
  readonly key: number
  readonly append: (events: readonly DatedEvent[]) => Promise<void>
  readonly publish: () => Promise<"published" | "taken">
  readonly discard: () => Promise<void>
}

export interface Drafts {
  readonly open: (creation: Creation) => Promise<ServerDraft>
  /** Deletes the drafts of lost nodes. */
  readonly sweep: () => Promise<void>
  /** Deletes this node's own drafts. */
  readonly leave: () => Promise<void>
}

export const createDrafts = (options: {
  readonly connection: Connection
  readonly schema: string
  readonly workers: Workers
  readonly newMark: () => string
  readonly remove: (key: number) => Promise<void>
}): Drafts => {
  const { connection, schema, workers, newMark, remove } = options

  const open: Drafts["open"] = async (creation) => {
    const { sessionID } = creation.data
    const [row] = await connection.ask(
      `insert into ${schema}.session (id, published, seq, owner, summary) values ($1, false, 0, $2, $3) returning key`,
      [`draft ${newMark()}`, workers.me, summaryText(NO_SUMMARY)],
    )
    const key = Number(row?.["key"])
    let seq = 0
    let summary = NO_SUMMARY
    let isOpen = true

    const write = async (events: readonly DatedEvent[]): Promise<void> => {
      if (!isOpen) throw new Failure("ENGINE_CLOSED")
      const prepared = prepareWrite({ key, after: seq, summary, mark: newMark(), events })
      const [outcome] = await sendWrites((sql, values) => connection.ask(sql, values), schema, [
        prepared.write,
      ])
      if (outcome?.kind !== "stored") throw new Failure("FENCED", { session: sessionID })
      seq += events.length
      summary = prepared.summary
    }

    await write([creation])
    return {
      key,
      append: write,
      publish: async () => {
        try {
          const rows = await connection.ask(
            `update ${schema}.session set id = $2, published = true, owner = null where key = $1 and owner = $3 returning key`,
            [key, sessionID, workers.me],
          )
          // The answer to the first attempt may have got lost.
          if (rows.length === 0 && !(await isPublished(key, sessionID)))
            throw new Failure("FENCED", { session: sessionID })
          isOpen = false
          return "published"
        } catch (cause) {
          if (isUniqueViolation(cause)) return "taken"
          throw cause
        }
      },
      discard: async () => {
        if (!isOpen) return
        isOpen = false
        await remove(key)
      },
    }
  }

  const isPublished = async (key: number, id: string): Promise<boolean> =>
    (await connection.ask(`select 1 as one from ${schema}.session where key = $1 and id = $2`, [key, id]))
      .length > 0

  return {
    open,
    leave: async () => {
      const rows = await connection.ask(
        `select key from ${schema}.session where not published and owner = $1`,
        [workers.me],
      )
      for (const row of rows) await remove(Number(row["key"]))
    },
    sweep: async () => {
      const rows = await connection.ask(
        `select key, owner from ${schema}.session where not published and owner <> $1`,
        [workers.me],
      )
      const lost = await workers.lost([...new Set(rows.map((row) => String(row["owner"])))])
      for (const row of rows) if (lost.has(String(row["owner"]))) await remove(Number(row["key"]))
    },
  }
}
