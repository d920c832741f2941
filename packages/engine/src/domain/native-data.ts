import type { Json } from "@meridian/protocol"

/**
 * Removes from a provider's own result what only that provider can read. It must not reach another model or a checkpoint.
 */
export const withoutNative = (value: Json): Json => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((entry: Json) => withoutNative(entry))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !NATIVE.test(name))
      .map(([name, entry]) => [name, withoutNative(entry)]),
  )
}

const NATIVE = /encrypt|signature|opaque/i
