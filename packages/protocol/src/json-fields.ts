/** Reads foreign JSON: a value either has the expected type or counts as absent. Nothing here throws. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from "./json.ts"

export const parseObject = (text: string): JsonObject | undefined => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- the fields below check every value that is used
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

export const parseList = (text: string): readonly Json[] => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- as above
    const value: unknown = JSON.parse(text)
    return isJsonList(value) ? value : []
  } catch {
    return []
  }
}

export const asObject = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined)

/** One field of any value. */
export const fieldAt = (from: unknown, key: string): Json | undefined => asObject(from)?.[key]

export const objectAt = (from: JsonObject | undefined, key: string): JsonObject | undefined =>
  asObject(from?.[key])

export const textAt = (from: JsonObject | undefined, key: string): string | undefined => {
  const value = from?.[key]
  return typeof value === "string" ? value : undefined
}

/** A word to switch on; "" when absent. */
export const wordAt = (from: JsonObject | undefined, key: string): string => textAt(from, key) ?? ""

export const numberAt = (from: JsonObject | undefined, key: string): number | undefined => {
  const value = from?.[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** A count of tokens; 0 when absent or absurd. */
export const countAt = (from: JsonObject | undefined, key: string): number =>
  Math.max(0, numberAt(from, key) ?? 0)

export const listAt = (from: JsonObject | undefined, key: string): readonly Json[] => {
  const value: unknown = from?.[key]
  return isJsonList(value) ? value : []
}
