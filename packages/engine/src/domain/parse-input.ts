import { isJsonObject, type Json } from "@meridian/protocol"

export type ParsedInput =
  | { readonly kind: "json"; readonly value: Json }
  | { readonly kind: "invalid"; readonly message: string }

/** Parses the input that the model wrote for a call. Empty text means no arguments; anything but an object is refused. */
export const parseInput = (text: string): ParsedInput => {
  if (text.trim() === "") return { kind: "json", value: {} }
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- this is the codec
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return { kind: "json", value }
    return { kind: "invalid", message: "The input of the call must be a JSON object." }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    return {
      kind: "invalid",
      message: `The input of the call is not valid JSON (${why}). Send it again as one JSON object.`,
    }
  }
}
