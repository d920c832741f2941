/** Nothing is out of reach: `recall` searches the whole durable history of a session, `expand` reads a range of it. */
import { described, integer, objectOf, text as words } from "@meridian/protocol"
import { Effect } from "effect"

import { describeEvent } from "../domain/describe-event.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import type { StoreVerbs } from "../port/store.ts"
import { toolInput } from "../port/tool-input.ts"
import { ToolError, type BuiltinTool } from "../port/tool.ts"

const EXPAND_CHARACTERS = 24_000

const QUERY = toolInput(
  objectOf({ query: described(words({ pattern: /\S/, like: "some words" }), "Words to look for") }),
)

const SEQ = integer(1, Number.MAX_SAFE_INTEGER)

const RANGE = toolInput(
  objectOf(
    { from: described(SEQ, "First sequence number") },
    { through: described(SEQ, "Last sequence number") },
  ),
  "refuse",
)

export interface HistoryOptions {
  readonly history: Pick<StoreVerbs, "search" | "events">
}

const TRAITS = { kind: "search", changes: "none", looking: { at: "session" } } as const

export const RECALL: BuiltinTool<HistoryOptions> = {
  name: "recall",
  traits: TRAITS,
  open: ({ history }) => ({
    advertisement: {
      name: "recall",
      description: `Searches everything said and done in this session, also what was compacted away. Gives at most ${LIMITS.recallHits} places with their sequence numbers; read around one with expand.`,
      input: QUERY.schema,
    },
    execute: async (input, { sessionID, signal }) => {
      const { query } = QUERY.decode(input)
      const hits = await Effect.runPromise(history.search(sessionID, query), { signal })
      return answer(
        hits.length === 0 ? "Nothing found." : hits.map(({ seq, text }) => `#${seq} ${text}`).join("\n\n"),
      )
    },
  }),
}

export const EXPAND: BuiltinTool<HistoryOptions> = {
  name: "expand",
  traits: TRAITS,
  open: ({ history }) => ({
    advertisement: {
      name: "expand",
      description: "Shows the events of this session from one sequence number to another, a page at a time.",
      input: RANGE.schema,
    },
    execute: async (input, { sessionID, signal }) => {
      const { from, through = Number.MAX_SAFE_INTEGER } = RANGE.decode(input)
      if (through < from)
        throw new ToolError("invalid-input", "`from` and `through` are sequence numbers, in order.")
      const range = { session: sessionID, after: from - 1, limit: LIMITS.eventsPerPage }
      const events = await Effect.runPromise(history.events(range), { signal })
      return answer(describeRange(events, through))
    },
  }),
}

const answer = (text: string) => ({ content: [{ type: "text", text } as const] })

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
