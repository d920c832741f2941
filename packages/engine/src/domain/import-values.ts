/**
 * Single values of a foreign conversation in a form that a session can hold: whole characters, valid names, bounded
 * numbers.
 */
import { isJsonObject, type Json, type RecordedUsage } from "@meridian/protocol"

import { LIMITS } from "./limits.ts"
import { wellFormed } from "./well-formed.ts"

/** Cuts the text to `most` characters, never inside one. */
export const cutText = (text: string, most: number): string => {
  const whole = text.toWellFormed()
  if (whole.length <= most) return whole
  const last = whole.charCodeAt(most - 1)
  return whole.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}

/** Providers refuse other names. One such name in the history would make them refuse the session from then on. */
export const toolName = (name: string): string => name.replaceAll(/[^\w-]/g, "_").slice(0, 64) || "tool"

export const shortName = (name: string): string => cutText(name, 200)

export const freeId = (id: string, taken: ReadonlySet<string>): string => {
  const base = shortName(id) || "call"
  if (!taken.has(base)) return base
  for (let n = 2; ; n += 1) if (!taken.has(`${base}_${n}`)) return `${base}_${n}`
}

export type GivenInput =
  | { readonly kind: "object"; readonly input: Json }
  /** Kept as text: as JSON a provider or a reader would refuse it. */
  | { readonly kind: "text"; readonly text: string; readonly isDeep: boolean }

export const givenInput = ({
  input = {},
  raw,
}: {
  readonly input?: Json
  readonly raw?: string
}): GivenInput => {
  if (raw !== undefined) return { kind: "text", text: raw, isDeep: false }
  const isDeep = isDeeper(input, LIMITS.importedDepth)
  const text = asText(input)
  if (!isJsonObject(input) || isDeep || text.length > LIMITS.importedTextCharacters)
    return { kind: "text", text, isDeep }
  return { kind: "object", input: wellFormed(input) }
}

/** Avoids recursion, because the value may be nested deeper than the stack. */
const isDeeper = (value: Json, most: number): boolean => {
  let level: readonly Json[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= most) return true
    level = level.flatMap((entry) =>
      typeof entry === "object" && entry !== null ? Object.values<Json>(entry).filter(isNested) : [],
    )
  }
  return false
}

const isNested = (value: Json): boolean => typeof value === "object" && value !== null

const asText = (input: Json): string => {
  try {
    return JSON.stringify(input)
  } catch {
    return "[nested deeper than can be written]"
  }
}

/** The last moment of the year 9999. Nobody ever recorded a later time. */
export const LATEST_TIME = 253_402_300_799_999

export const validTime = (time: number | undefined): number | undefined =>
  time !== undefined && Number.isFinite(time) && time >= 0 && time <= LATEST_TIME
    ? Math.floor(time)
    : undefined

export const validCount = (count: number): number => (Number.isFinite(count) && count > 0 ? count : 0)

/** Integers, because integer columns sum them. */
const validTokens = (count: number): number => Math.min(Math.floor(validCount(count)), 1_000_000_000_000)

export const validUsage = (usage: RecordedUsage): RecordedUsage => ({
  input: validTokens(usage.input),
  output: validTokens(usage.output),
  reasoning: validTokens(usage.reasoning),
  cacheRead: validTokens(usage.cacheRead),
  cacheWrite: validTokens(usage.cacheWrite),
})
