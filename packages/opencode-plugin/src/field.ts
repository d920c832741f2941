/** Reads values whose shape is only promised: hook inputs, messages, answers of the host. Never throws. */

export const fieldOf = (value: unknown, key: string): unknown => {
  try {
    return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
  } catch {
    // A getter of a foreign object threw. Treat the field as absent.
    return undefined
  }
}

export const textField = (value: unknown, key: string): string | undefined => {
  const text = fieldOf(value, key)
  return typeof text === "string" && text !== "" ? text : undefined
}

export const listField = (value: unknown, key: string): readonly unknown[] => {
  const list = fieldOf(value, key)
  return Array.isArray(list) ? list : []
}
