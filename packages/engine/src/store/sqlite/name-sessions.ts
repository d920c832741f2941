/** Names the sessions of a database that was written before titles came from the first prompt. */
import type { DatabaseSync } from "node:sqlite"

import { decodeEvent } from "@meridian/protocol"

import { nextTitle, type Title } from "../../domain/title.ts"
import { positionOf, seqOf, STRIDE } from "./schema.ts"

export const nameSessions = (raw: DatabaseSync): void => {
  const prompts = raw.prepare(
    `select id, type, time, data from event where id between ? and ?
       and type in ('session.next.prompt.admitted.1', 'session.next.prompted.1') order by id`,
  )
  const name = raw.prepare("update session set title = ?, title_by = ? where key = ?")
  for (const row of raw.prepare("select key from session where title is null").all()) {
    const key = Number(row["key"])
    let title: Title | undefined
    for (const prompt of prompts.iterate(positionOf(key, 0), positionOf(key, STRIDE - 1))) {
      const event = decodeEvent({
        seq: seqOf(Number(prompt["id"])),
        type: String(prompt["type"]),
        time: Number(prompt["time"]),
        data: String(prompt["data"]),
      })
      title = nextTitle(undefined, event)
      if (title !== undefined) break
    }
    if (title !== undefined) name.run(title.text, title.by, key)
  }
}
