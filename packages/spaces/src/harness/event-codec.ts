/**
 * `runs/<rN>/events.jsonl`: one object per line, `v: 1`, a time, and the fields of one HarnessEvent in snake_case.
 * Lines are only appended. A reader skips types it does not know. Long texts are cut; the raw stream is kept beside
 * this file.
 */
import { countAt, numberAt, type JsonObject } from "@meridian/protocol"

import type { HarnessEvent, Usage } from "../port/harness.ts"
import { cut, cutJson } from "./bounded-text.ts"
import { LIMITS } from "./limits.ts"

export const encodeEvent = (event: HarnessEvent, at: string): JsonObject => ({ v: 1, at, ...fieldsOf(event) })

export const encodeUsage = (usage: Usage): JsonObject => ({
  input_tokens: usage.inputTokens,
  cached_input_tokens: usage.cachedInputTokens,
  output_tokens: usage.outputTokens,
  ...(usage.costUsd === undefined ? {} : { cost_usd: usage.costUsd }),
})

const fieldsOf = (event: HarnessEvent): JsonObject => {
  switch (event.type) {
    case "session":
      return { type: event.type, harness_session_id: event.harnessSessionId }
    case "text":
    case "reasoning":
      return { type: event.type, text: cut(event.text, LIMITS.eventText) }
    case "tool.started":
      return { type: event.type, call: event.call, tool: event.tool, input: cutJson(event.input) }
    case "tool.ended":
      return {
        type: event.type,
        call: event.call,
        tool: event.tool,
        status: event.status,
        output: cut(event.output, LIMITS.eventText),
      }
    case "file":
      return { type: event.type, path: event.path, change: event.change }
    case "compaction":
      return {
        type: event.type,
        phase: event.phase,
        ...(event.tokensBefore === undefined ? {} : { tokens_before: event.tokensBefore }),
        ...(event.tokensAfter === undefined ? {} : { tokens_after: event.tokensAfter }),
      }
    case "retry":
      return { type: event.type, attempt: event.attempt, failure: event.failure, message: event.message }
    case "error":
    case "give-up":
      return { type: event.type, failure: event.failure, message: event.message }
    case "warning":
      return { type: event.type, message: cut(event.message, LIMITS.rawText) }
    case "usage":
    case "spending":
      return { type: event.type, ...encodeUsage(event.usage) }
    case "waiting":
      return { type: event.type, for: event.for, message: cut(event.message, LIMITS.rawText) }
    case "told":
      return { type: event.type, up_to: event.upTo }
    case "turn.ended":
      return { type: event.type, reason: event.reason }
    case "other":
      return { type: event.type, name: event.name, raw: event.raw }
  }
}

/** Decodes the usage in a line of `events.jsonl`. */
export const decodeUsage = (line: JsonObject): Usage => {
  const costUsd = numberAt(line, "cost_usd")
  return {
    inputTokens: countAt(line, "input_tokens"),
    cachedInputTokens: countAt(line, "cached_input_tokens"),
    outputTokens: countAt(line, "output_tokens"),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}
