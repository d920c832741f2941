/**
 * Nothing is out of reach: `recall` searches the whole durable history of a session, `expand` reads a range of it. The
 * full-text index lives in memory, is built from the log when it is first asked for and follows it by sequence: searching
 * is rare, writing is not, so writing pays nothing for it.
 */
import type { StoredEvent, UnknownEvent } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import { ToolError, type Tool } from "../port/tool.ts"
import type { Store } from "../store/store.ts"

const MOST_HITS = 20
const HIT_CHARACTERS = 400
const EXPAND_CHARACTERS = 24_000
const INDEXED_SESSIONS = 4

export const recallTools = (store: Store): readonly Tool[] => {
  const indexes = createIndexes(store)
  return [
    {
      advertisement: {
        name: "recall",
        description: `Searches everything said and done in this session, also what was compacted away. Gives at most ${MOST_HITS} places with their sequence numbers; read around one with expand.`,
        input: {
          type: "object",
          properties: { query: { type: "string", description: "Words to look for" } },
          required: ["query"],
          additionalProperties: false,
        },
      },
      execute: (input, scene) => {
        const query = field(input, "query")
        if (typeof query !== "string" || query.trim() === "")
          return Promise.reject(new ToolError("invalid-input", "`query` must be some words."))
        const hits = indexes.search(scene.sessionID, query)
        return answer(hits.length === 0 ? "Nothing found." : hits.join("\n\n"))
      },
    },
    {
      advertisement: {
        name: "expand",
        description:
          "Shows the events of this session from one sequence number to another, a page at a time.",
        input: {
          type: "object",
          properties: {
            from: { type: "integer", minimum: 1, description: "First sequence number" },
            through: { type: "integer", minimum: 1, description: "Last sequence number" },
          },
          required: ["from"],
          additionalProperties: false,
        },
      },
      execute: (input, scene) => {
        const unknown = Object.keys(Object(input)).find((name) => name !== "from" && name !== "through")
        if (unknown !== undefined)
          return Promise.reject(
            new ToolError(
              "invalid-input",
              `There is no \`${unknown}\`; a range is \`from\` and \`through\`.`,
            ),
          )
        const from = field(input, "from")
        const through = field(input, "through") ?? Number.MAX_SAFE_INTEGER
        if (!isSeq(from) || !isSeq(through) || through < from)
          return Promise.reject(
            new ToolError("invalid-input", "`from` and `through` are sequence numbers, in order."),
          )
        return answer(readRange(store, scene.sessionID, from, through))
      },
    },
  ]
}

const answer = (text: string) => Promise.resolve({ content: [{ type: "text", text } as const] })

const isSeq = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1

const field = (input: unknown, name: string): unknown =>
  typeof input === "object" && input !== null
    ? Object.entries(input).find(([key]) => key === name)?.[1]
    : undefined

const readRange = (store: Store, sessionID: string, from: number, through: number): string => {
  const { key } = store.log.head(sessionID)
  const lines: string[] = []
  let characters = 0
  for (const event of store.reader.events(key, from - 1, LIMITS.eventsPerPage)) {
    if (event.seq > through) break
    const text = describe(event)
    if (text === "") continue
    const line = `#${event.seq} ${text}`
    if (characters + line.length > EXPAND_CHARACTERS && lines.length > 0)
      return `${lines.join("\n")}\n[cut here; go on with from: ${event.seq}]`
    lines.push(line.slice(0, EXPAND_CHARACTERS))
    characters += line.length
  }
  return lines.length === 0 ? "There is nothing in that range." : lines.join("\n")
}

/** What a search should find, and how a range is read. */
const describe = (event: StoredEvent | UnknownEvent): string => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest has no text to search for
  switch (event.type) {
    case "session.next.prompt.admitted.1":
    case "session.next.prompted.1":
      return `[User] ${event.data.prompt.text}`
    case "session.next.text.ended.1":
      return `[Assistant] ${event.data.text}`
    case "session.next.reasoning.ended.1":
      return `[Reasoning] ${event.data.text}`
    case "session.next.tool.called.1":
      return `[Call] ${event.data.tool} ${JSON.stringify(event.data.input ?? event.data.raw ?? {})}`
    case "session.next.tool.success.1":
      return `[Result] ${event.data.content.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n")}`
    case "session.next.tool.failed.1":
      return `[Error] ${event.data.error.message}`
    case "session.next.context.updated.1":
      return `[System] ${event.data.text}`
    case "session.next.compaction.ended.2":
      return `[Checkpoint] ${event.data.summary}`
    default:
      return ""
  }
}

const createIndexes = (store: Store) => {
  const { raw } = store.database
  const through = new Map<string, number>()

  const tableOf = (key: number) => `recall_${key}`

  const forget = (sessionID: string) => {
    through.delete(sessionID)
    const row = store.log.find(sessionID)
    if (row !== undefined) raw.exec(`drop table if exists temp.${tableOf(row.key)}`)
  }

  const follow = (sessionID: string, key: number): void => {
    const table = tableOf(key)
    if (!through.has(sessionID)) {
      for (const oldest of [...through.keys()].slice(0, Math.max(0, through.size - INDEXED_SESSIONS + 1)))
        forget(oldest)
      raw.exec(`create virtual table if not exists temp.${table} using fts5(text, tokenize = 'unicode61')`)
      through.set(sessionID, 0)
    }
    const insert = raw.prepare(`insert into temp.${table} (rowid, text) values (?, ?)`)
    for (;;) {
      const page = store.reader.events(key, through.get(sessionID) ?? 0, LIMITS.eventsPerPage)
      for (const event of page) {
        const text = describe(event)
        if (text !== "") insert.run(event.seq, text)
        through.set(sessionID, event.seq)
      }
      if (page.length < LIMITS.eventsPerPage) return
    }
  }

  return {
    search: (sessionID: string, query: string): readonly string[] => {
      const { key } = store.log.head(sessionID)
      follow(sessionID, key)
      // Each word quoted: no query is a syntax error, whatever it contains.
      const words = (query.match(/[\p{L}\p{N}_]+/gu) ?? []).slice(0, 20).map((word) => `"${word}"`)
      if (words.length === 0) return []
      const find = raw.prepare(
        `select rowid as seq, snippet(${tableOf(key)}, 0, '', '', ' ... ', 60) as text
         from temp.${tableOf(key)} where ${tableOf(key)} match ? order by rank limit ${MOST_HITS}`,
      )
      const all = find.all(words.join(" AND "))
      const rows = all.length > 0 ? all : find.all(words.join(" OR "))
      return rows.map((row) => `#${Number(row["seq"])} ${String(row["text"]).slice(0, HIT_CHARACTERS)}`)
    },
  }
}
