/**
 * How much work may use up before a person is asked: dollars, tokens of every kind, provider requests, and milliseconds at
 * work.
 */
import { integer, NUMBER, number, objectOf, type TypeOf } from "./shape/shape.ts"

export const CAP_FIELDS = {
  maxCost: number({ above: 0 }),
  maxTokens: integer(1, Number.MAX_SAFE_INTEGER),
  maxTurns: integer(1, Number.MAX_SAFE_INTEGER),
  maxTimeMs: number({ above: 0 }),
} as const

export const CAPS = objectOf({}, CAP_FIELDS)
/** The form in logs. */
export const RECORDED_CAPS = objectOf(
  {},
  { maxCost: NUMBER, maxTokens: NUMBER, maxTurns: NUMBER, maxTimeMs: NUMBER },
)
export type Caps = TypeOf<typeof CAPS>
