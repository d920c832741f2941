/** Nothing is out of reach: `recall` searches the whole durable history of a session, `expand` reads a range of it. */
import { Effect } from "effect"

import { describeEvent } from "../domain/describe-event.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import type { StoreVerbs } from "../port/store.ts"
import { ToolError, type Tool } from "../port/tool.ts"

const EXPAND_CHARACTERS = 24_000

export const recallTools = (store: Pick<StoreVerbs, "search" | "events">): readonly Tool[] => [
  {
    advertisement: {
      name: "recall",
      description: `Searches everything said and done in this session, also what was compacted away. Gives at most ${LIMITS.recallHits} places with their sequence numbers; read around one with expand.`,
      input: {
        type: "object",
        properties: { query: { type: "string", description: "Words to look for" } },
        required: ["query"],
        additionalProperties: false,
      },
    },
    execute: async (input, { sessionID, signal }) => {
      const query = field(input, "query")
      if (typeof query !== "string" || query.trim() === "")
        throw new ToolError("invalid-input", "`query` must be some words.")
      const hits = await Effect.runPromise(store.search(sessionID, query), { signal })
      return answer(
        hits.length === 0 ? "Nothing found." : hits.map(({ seq, text }) => `#${seq} ${text}`).join("\n\n"),
      )
    },
  },
  {
    advertisement: {
      name: "expand",
      description: "Shows the events of this session from one sequence number to another, a page at a time.",
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
    execute: async (input, { sessionID, signal }) => {
      const unknown = Object.keys(Object(input)).find((name) => name !== "from" && name !== "through")
      if (unknown !== undefined)
        throw new ToolError(
          "invalid-input",
          `There is no \`${unknown}\`; a range is \`from\` and \`through\`.`,
        )
      const from = field(input, "from")
      const through = field(input, "through") ?? Number.MAX_SAFE_INTEGER
      if (!isSeq(from) || !isSeq(through) || through < from)
        throw new ToolError("invalid-input", "`from` and `through` are sequence numbers, in order.")
      const range = { session: sessionID, after: from - 1, limit: LIMITS.eventsPerPage }
      const events = await Effect.runPromise(store.events(range), { signal })
      return answer(describeRange(events, through))
    },
  },
]

const answer = (text: string) => ({ content: [{ type: "text", text } as const] })

const isSeq = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1

const field = (input: unknown, name: string): unknown =>
  typeof input === "object" && input !== null
    ? Object.entries(input).find(([key]) => key === name)?.[1]
    : undefined

const describeRange = (events: readonly LoggedEvent[], through: number): string => {
  const lines: string[] = []
  let characters = 0
  for (const event of events) {
    if (event.seq > through) break
    const text = describeEvent(event)
    if (text === "") continue
    const line = `#${event.seq} ${text}`
    if (characters + line.length > EXPAND_CHARACTERS && lines.length > 0)
      return `${lines.join("\n")}\n[cut here; go on with from: ${event.seq}]`
    lines.push(line.slice(0, EXPAND_CHARACTERS))
    characters += line.length
  }
  return lines.length === 0 ? "There is nothing in that range." : lines.join("\n")
}
