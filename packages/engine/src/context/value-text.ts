import type { Json } from "@meridian/protocol"

/** A value as a person would write it in a sentence. */
export const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)
