/** Lines of the logs: one JSON object each, compact, ending in a newline. The only place that turns log text into values. */
import { isJsonObject, type Json, type JsonObject } from "@meridian/protocol"

export type Fields = JsonObject

/** The object on this line, or undefined for anything else. */
export const decodeLine = (line: string): Fields | undefined => {
  const value = decodeJson(line)
  return isJsonObject(value) ? value : undefined
}

export const decodeJson = (text: string): unknown => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- this is the codec: the result is unknown until its fields are read one by one
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sorts keys and leaves out undefined, so that the same event is always the same bytes. */
export const encodeLine = (event: Readonly<Record<string, Json | undefined>>): string => {
  const kept: Record<string, Json> = {}
  for (const key of Object.keys(event).sort()) {
    const value = event[key]
    if (value !== undefined) kept[key] = value
  }
  return `${JSON.stringify(kept satisfies JsonObject)}\n`
}

export const text = (fields: Fields, key: string): string | undefined => {
  const value = fields[key]
  return typeof value === "string" && value !== "" ? value : undefined
}

export const number = (fields: Fields, key: string): number | undefined => {
  const value = fields[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

export const texts = (fields: Fields, key: string): readonly string[] => {
  const value = fields[key]
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
}

/** The value, if it belongs to the closed set. */
export const choice = <T extends string>(fields: Fields, key: string, set: readonly T[]): T | undefined =>
  set.find((member) => member === fields[key])
