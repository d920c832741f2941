/** Values that survive conversion to JSON text and back. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/** Neither null nor a list. The content is JSON only if it came from JSON text. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isJsonList = (value: unknown): value is readonly Json[] => Array.isArray(value)
