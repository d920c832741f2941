import type { Json } from "@meridian/protocol"

/** A value as a person would write it in a sentence. */
export const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)

/** One field of a value that should be an object. */
export const fieldOf = (value: Json, name: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
