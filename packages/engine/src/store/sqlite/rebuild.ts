/** Drops the projections and derives them again from the log. Leases and owners are not derived. */
import { decodeEvent } from "@meridian/protocol"

import type { Database } from "./database.ts"
import { createProjector } from "./projector.ts"
import { keyOf, seqOf } from "./schema.ts"

const PROJECTIONS = ["session", "input", "message", "part", "request", "approval"] as const

const EVENTS_AT_ONCE = 1_000

export const rebuildProjections = (database: Database): void => {
  const { raw } = database
  const projector = createProjector(raw)
  const page = raw.prepare("select id, type, time, data from event where id > ? order by id limit ?")
  const move = raw.prepare("update session set seq = ?, updated = ? where key = ?")
  database.transact(() => {
    for (const table of PROJECTIONS) raw.exec(`delete from ${table}`)
    let last = 0
    for (;;) {
      const rows = page.all(last, EVENTS_AT_ONCE)
      for (const row of rows) {
        last = Number(row["id"])
        const event = decodeEvent({
          seq: seqOf(last),
          type: String(row["type"]),
          time: Number(row["time"]),
          data: String(row["data"]),
        })
        if (event.type !== "unknown") projector.project(keyOf(last), event)
        move.run(seqOf(last), event.time, keyOf(last))
      }
      if (rows.length < EVENTS_AT_ONCE) return
    }
  })
}
