/** What a wire format must provide: a whole answer, or the same answer as a stream of server-sent events. */
import type { Fault, FaultFamily, ReplyPart, ScriptUsage } from "@meridian/engine/script"

/** A reply with everything decided, ready to be written in any format. */
export interface Answer {
  /** Six digits from the number of the request. Every id of the answer is made from it. */
  readonly id: string
  readonly n: number
  readonly model: string
  readonly parts: readonly ReplyPart[]
  readonly usage: Required<ScriptUsage>
  readonly finish: "stop" | "length" | "content-filter" | "tool-calls"
  readonly includeUsage: boolean
  /** Omits what makes the stream complete. */
  readonly unfinished: boolean
}

export interface WireFormat {
  readonly family: FaultFamily
  readonly whole: (answer: Answer) => unknown
  /** Lazy: an answer may have 100,000 pieces. */
  readonly events: (answer: Answer) => Iterable<string>
  readonly errorBody: (fault: Fault) => unknown
}

export const bare = (value: unknown): string =>
  `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`

export const named = (event: string, value: unknown): string =>
  `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`

/** The first of a kind has the plain name; the others have a number after it. */
export const partId = (prefix: string, answer: Answer, index: number): string =>
  index === 0 ? `${prefix}${answer.id}` : `${prefix}${answer.id}_${index}`

/** Numbers the parts per kind: ids of tool calls count tools, not parts. */
export function* numbered(
  parts: readonly ReplyPart[],
): Generator<{ readonly part: ReplyPart; readonly index: number }> {
  const seen = new Map<string, number>()
  for (const part of parts) {
    const index = seen.get(part.type) ?? 0
    seen.set(part.type, index + 1)
    yield { part, index }
  }
}
