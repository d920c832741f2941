/** Whatever a file contains, reading it ends in a conversation or in one clear refusal. */
import { readFileSync } from "node:fs"

import { Failure } from "@meridian/protocol"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { readLines, sessionFile } from "../../../../test/import-scene.ts"

const REFUSALS = new Set(["IMPORT_FORMAT_UNKNOWN", "IMPORT_EMPTY"])

const readsOrRefuses = async (bytes: Parameters<typeof readLines>[0]): Promise<void> => {
  try {
    await readLines(bytes)
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    expect(REFUSALS).toContain(cause.code)
  }
}

test("any bytes", async () => {
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), readsOrRefuses), { numRuns: 100 })
})

const FILES = (["claude", "codex", "opencode", "pi"] as const).map((format) =>
  readFileSync(sessionFile(format)),
)

test("a real file with bytes overwritten, removed or cut off", async () => {
  const damage = fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.nat(255) }), {
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...FILES),
      damage,
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (file, places, cut) => {
        const bytes = Uint8Array.from(file.subarray(0, Math.ceil(file.length * cut)))
        for (const { at, byte } of places) bytes[Math.floor(at * bytes.length)] = byte
        await readsOrRefuses(bytes)
      },
    ),
    { numRuns: 100 },
  )
})

/** Every key and every word the readers look for, with any value. */
const WORDS = [
  "type",
  "user",
  "assistant",
  "system",
  "message",
  "uuid",
  "parentUuid",
  "sessionId",
  "content",
  "text",
  "thinking",
  "tool_use",
  "tool_result",
  "tool_use_id",
  "isSidechain",
  "isMeta",
  "isCompactSummary",
  "compact_boundary",
  "subtype",
  "payload",
  "response_item",
  "event_msg",
  "token_count",
  "info",
  "compacted",
  "replacement_history",
  "function_call",
  "function_call_output",
  "call_id",
  "arguments",
  "output",
  "role",
  "session",
  "session_meta",
  "id",
  "parentId",
  "compaction",
  "summary",
  "firstKeptEntryId",
  "toolCall",
  "toolResult",
  "timestamp",
  "name",
  "messages",
  "parts",
  "state",
  "status",
  "a",
]
const word = fc.constantFrom(...WORDS)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.constantFrom(null, true, false, 0, -1, 1e300, ""),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(word, tie("any"), { maxKeys: 6 }),
  ),
})).any

test("lines of the words the readers know, in any order", async () => {
  const line = fc.dictionary(word, value, { maxKeys: 8 })
  const start = fc.constantFrom(
    { type: "session", id: "s" },
    { type: "session_meta", payload: { id: "s" } },
    { type: "user", sessionId: "s", uuid: "a" },
  )
  await fc.assert(
    fc.asyncProperty(start, fc.array(line, { maxLength: 12 }), (first, lines) =>
      readsOrRefuses([first, ...lines]),
    ),
    { numRuns: 300 },
  )
  const document = fc.record({
    info: fc.constant({ id: "s" }),
    messages: fc.array(fc.dictionary(word, value), { maxLength: 8 }),
  })
  await fc.assert(
    fc.asyncProperty(document, (whole) => readsOrRefuses(JSON.stringify(whole))),
    { numRuns: 200 },
  )
})
