/**
 * Spans as OpenTelemetry defines them, independent of a format. Names and attributes follow the semantic conventions for
 * generative AI, version 1.37 (status: development). What the conventions have no name for is under `meridian.`.
 */
import { createHash } from "node:crypto"

export type AttributeValue = string | number | boolean | readonly string[]

export interface SpanEvent {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: "internal" | "client"
  readonly start: number
  readonly end: number
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly events?: readonly SpanEvent[]
  /** Set when the span failed: a sentence. */
  readonly error?: string
}

const TRACE_BYTES = 16
const SPAN_BYTES = 8

/** Ids follow from the log alone, so a span that is sent again, from any process, has the same id. */
export const traceIdOf = (session: string, seq: number): string =>
  idOf(`trace ${session} ${seq}`, TRACE_BYTES)

export const spanIdOf = (session: string, seq: number, what: string): string =>
  idOf(`span ${session} ${seq} ${what}`, SPAN_BYTES)

const idOf = (text: string, bytes: number): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, bytes * 2)
