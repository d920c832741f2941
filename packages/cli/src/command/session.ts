/** `meridian session list`, `compactions` and `restore`: reads sessions and runs nothing. */
import type { SessionInfo } from "@meridian/engine"
import { type CompactionReceipt, oneLine, type TypeOf } from "@meridian/protocol"
import { implement } from "@meridian/spaces"

import { lookWithEngine } from "./look-with-engine.ts"
import { SESSION_COMPACTIONS, SESSION_LIST, SESSION_RESTORE } from "./session.meta.ts"

const PAGE = 200

const sessionDocument = ({ id, status, location, seq, title, archived }: SessionInfo) => ({
  session_id: id,
  status,
  directory: location.directory,
  events: seq,
  ...(title === undefined ? {} : { title }),
  ...(archived === undefined ? {} : { archived }),
})

export const sessionList = implement(SESSION_LIST, {
  run: ({ all, database }, world) =>
    lookWithEngine(database, world, async (engine) => {
      const { items } = await engine.sessions.list({ limit: PAGE, order: "desc" })
      return { sessions: items.filter(({ archived }) => all || archived !== true).map(sessionDocument) }
    }),
  text: ({ sessions }) =>
    sessions.length === 0
      ? "No sessions."
      : sessions
          .map(({ session_id, status, events, directory, title, archived }) =>
            [
              session_id,
              status.padEnd(11),
              `${events} events`,
              directory,
              ...(title === undefined ? [] : [oneLine(title)]),
              ...(archived === true ? ["(archived)"] : []),
            ].join("  "),
          )
          .join("\n"),
})

export const sessionCompactions = implement(SESSION_COMPACTIONS, {
  run: async ({ session, database }, world) => {
    try {
      return await lookWithEngine(database, world, async (engine) => ({
        compactions: (await engine.sessions.receipts(session)).map(toDocument),
      }))
    } catch (unknown) {
      // Not an engine session: perhaps a conversation of a host, by its own id or as a chat of a space.
      const { hostCompactions } = await import("../continuity/host-compactions.ts")
      const compactions = database === undefined ? hostCompactions(world, session) : undefined
      if (compactions === undefined) throw unknown
      return { compactions }
    }
  },
  text: ({ compactions }) =>
    compactions.length === 0 ? "Never compacted." : compactions.map(tell).join("\n\n"),
})

type Document = TypeOf<typeof SESSION_COMPACTIONS.output>["compactions"][number]

const toDocument = (receipt: CompactionReceipt) => ({
  compaction_id: receipt.id,
  status: receipt.status,
  reason: receipt.reason,
  in_force: receipt.inForce,
  seq: receipt.seq,
  ...(receipt.method === undefined ? {} : { method: receipt.method }),
  ...(receipt.tokens === undefined
    ? {}
    : { tokens_before: receipt.tokens.before, tokens_after: receipt.tokens.after }),
  ...(receipt.messages === undefined ? {} : { messages: receipt.messages }),
  ...(receipt.range === undefined
    ? {}
    : { from_seq: receipt.range.from, through_seq: receipt.range.through }),
  ...(receipt.summary === undefined ? {} : { summary: receipt.summary }),
  ...(receipt.fallback === undefined ? {} : { fallback: receipt.fallback }),
  ...(receipt.error === undefined ? {} : { error: receipt.error.message }),
  ...(receipt.removedQuotes === undefined ? {} : { removed_quotes: receipt.removedQuotes }),
  ...(receipt.facts === undefined ? {} : { facts: receipt.facts }),
})

const tell = (compaction: Document): string =>
  [
    `${compaction.compaction_id}  ${compaction.status}${compaction.in_force ? ", in force" : ""}  (${compaction.reason})`,
    ...(compaction.tokens_before === undefined
      ? []
      : [
          `  ${compaction.tokens_before} -> ${compaction.tokens_after} tokens, ${compaction.messages} messages, events ${compaction.from_seq} to ${compaction.through_seq}, ${compaction.method === "extract" ? `extracted (${compaction.fallback})` : compaction.method === "extension" ? "summarised by an extension" : "summarised"}`,
        ]),
    ...(compaction.error === undefined ? [] : [`  ${compaction.error}`]),
    ...(compaction.removed_quotes ?? []).map((quote) => `  removed, never said: ${quote}`),
    ...hostLines(compaction),
    ...(compaction.facts ?? []).map((fact) => `  ${fact.kind}: ${fact.text} (${fact.source})`),
  ].join("\n")

/** For a conversation in a host: what its summary kept, what the next request got, what was in neither. */
const hostLines = ({ at, kept, put_back, lost, invented, contradicted, injected_tokens }: Document) => [
  ...(at === undefined ? [] : [`  at ${at}`]),
  ...(injected_tokens === undefined ? [] : [`  put back with ${injected_tokens} tokens`]),
  ...(kept ?? []).map((fact) => `  kept by the summary: ${oneLine(fact)}`),
  ...(put_back ?? []).map((fact) => `  put back: ${oneLine(fact)}`),
  ...(lost ?? []).map((fact) => `  lost: ${oneLine(fact)}`),
  ...(invented ?? []).map(
    (claim) =>
      `  invented by the summary${contradicted === true ? ", and contradicted" : ""}: ${oneLine(claim)}`,
  ),
]

export const sessionRestore = implement(SESSION_RESTORE, {
  run: ({ session, to, database }, world) =>
    lookWithEngine(database, world, async (engine) => {
      const target = to === undefined ? {} : { compactionID: to }
      await engine.sessions.restore({ sessionID: session, ...target })
      return { session_id: session, ...(to === undefined ? {} : { compaction_id: to }) }
    }),
  text: ({ session_id, compaction_id }) =>
    `Session ${session_id} shows ${compaction_id === undefined ? "its whole history" : `checkpoint ${compaction_id}`} again.`,
})
