/**
 * What `meridian direct --headless` writes on stdout: one JSON object per line, the fields of one event in
 * snake_case.
 *
 *   {"type":"session","session_id":"…"}                first, before anything else
 *   {"type":"text","text":"…"}                         whole, when it has ended; also `reasoning`
 *   {"type":"tool_started","call":"…","tool":"…","input":{}}
 *   {"type":"tool_ended","call":"…","tool":"…","status":"completed"|"failed","output":"…"}
 *   {"type":"file","path":"…","change":"written"|"deleted"}
 *   {"type":"compaction","phase":"started"|"ended"|"failed","tokens_before":0,"tokens_after":0}
 *   {"type":"retry","attempt":1,"failure":"rate_limit","message":"…"}
 *   {"type":"warning","message":"…"}
 *   {"type":"usage","input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"cost_usd":0}
 *   {"type":"waiting","for":"permission"|"question"|"nothing","message":"…"}   for a person, or no longer
 *   {"type":"told","up_to":3}                          words sent to the run are in the session, up to this number
 *   {"type":"turn_ended","reason":"stop"}
 *   {"type":"error","failure":"authentication","message":"…","retry_after_ms":0}   why it ended, when it failed
 *   {"type":"ended"}                                    last, and only when the work is done
 */
import { countAt, type JsonObject, numberAt, textAt, wordAt } from "@meridian/protocol"

import { TRANSIENT, type FailureClass } from "../domain/failure-class.ts"
import { type HarnessEvent } from "../port/harness.ts"
import { encodeUsage } from "./event-codec.ts"
import { other } from "./stream-parser.ts"

/** What the engine reports, and its end. */
export type DirectEvent = Exclude<HarnessEvent, { type: "other" | "give-up" }> | { readonly type: "ended" }

/** With its newline. */
export const encodeDirectLine = (event: DirectEvent): string => `${JSON.stringify(fieldsOf(event))}\n`

const fieldsOf = (event: DirectEvent): JsonObject => {
  switch (event.type) {
    case "session":
      return { type: "session", session_id: event.harnessSessionId }
    case "tool.started":
      return { type: "tool_started", call: event.call, tool: event.tool, input: event.input }
    case "tool.ended":
      return {
        type: "tool_ended",
        call: event.call,
        tool: event.tool,
        status: event.status,
        output: event.output,
      }
    case "compaction":
      return {
        type: "compaction",
        phase: event.phase,
        ...(event.tokensBefore === undefined ? {} : { tokens_before: event.tokensBefore }),
        ...(event.tokensAfter === undefined ? {} : { tokens_after: event.tokensAfter }),
      }
    case "usage":
      return { type: "usage", ...encodeUsage(event.usage) }
    case "told":
      return { type: "told", up_to: event.upTo }
    case "turn.ended":
      return { type: "turn_ended", reason: event.reason }
    case "spending":
      return { type: "spending", ...encodeUsage(event.usage) }
    case "text":
    case "reasoning":
    case "file":
    case "retry":
    case "waiting":
    case "warning":
    case "ended":
      return { ...event }
    case "error": {
      const { retryAfterMs, ...rest } = event
      return { ...rest, ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }) }
    }
  }
}

/** The event of a line. The caller that reads the stream reports the session. Never throws. */
export const readDirectLine = (line: JsonObject): HarnessEvent | { readonly type: "ended" } | undefined => {
  const type = wordAt(line, "type")
  switch (type) {
    case "session":
      return undefined
    case "text":
    case "reasoning":
      return { type, text: wordAt(line, "text") }
    case "tool_started":
      return {
        type: "tool.started",
        call: wordAt(line, "call"),
        tool: wordAt(line, "tool"),
        input: line["input"] ?? {},
      }
    case "tool_ended":
      return {
        type: "tool.ended",
        call: wordAt(line, "call"),
        tool: wordAt(line, "tool"),
        status: textAt(line, "status") === "completed" ? "completed" : "failed",
        output: wordAt(line, "output"),
      }
    case "file":
      return {
        type,
        path: wordAt(line, "path"),
        change: textAt(line, "change") === "deleted" ? "deleted" : "written",
      }
    case "compaction":
      return readCompaction(line)
    case "retry":
      return {
        type,
        attempt: countAt(line, "attempt"),
        failure: classOf(line),
        message: wordAt(line, "message"),
      }
    case "warning":
      return { type, message: wordAt(line, "message") }
    case "error":
      return readError(line)
    case "usage": {
      const costUsd = numberAt(line, "cost_usd")
      return {
        type,
        usage: {
          inputTokens: countAt(line, "input_tokens"),
          cachedInputTokens: countAt(line, "cached_input_tokens"),
          outputTokens: countAt(line, "output_tokens"),
          ...(costUsd === undefined ? {} : { costUsd }),
        },
      }
    }
    case "waiting":
      return {
        type,
        for: WAITS.find((word) => word === textAt(line, "for")) ?? "nothing",
        message: wordAt(line, "message"),
      }
    case "told":
      return { type, upTo: countAt(line, "up_to") }
    case "turn_ended":
      return { type: "turn.ended", reason: wordAt(line, "reason") }
    case "ended":
      return { type }
    default:
      return other(type, line)
  }
}

const WAITS = ["permission", "question", "nothing"] as const
const PHASES = ["started", "ended", "failed"] as const

const readCompaction = (line: JsonObject): HarnessEvent => {
  const [before, after] = [numberAt(line, "tokens_before"), numberAt(line, "tokens_after")]
  return {
    type: "compaction",
    phase: PHASES.find((phase) => phase === textAt(line, "phase")) ?? "failed",
    ...(before === undefined ? {} : { tokensBefore: before }),
    ...(after === undefined ? {} : { tokensAfter: after }),
  }
}

const readError = (line: JsonObject): HarnessEvent => {
  const retryAfterMs = numberAt(line, "retry_after_ms")
  return {
    type: "error",
    failure: classOf(line),
    message: wordAt(line, "message"),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

const classOf = (line: JsonObject): FailureClass => {
  const word = wordAt(line, "failure")
  return isClass(word) ? word : "unclassified"
}

const isClass = (word: string): word is FailureClass => Object.hasOwn(TRANSIENT, word)
