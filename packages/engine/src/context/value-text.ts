import type { Json } from "@meridian/protocol"

/** A value as text for a sentence. */
export const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)
