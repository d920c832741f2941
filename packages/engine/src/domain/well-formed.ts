/**
 * Repairs half characters (lone surrogates, left by a cut text) with U+FFFD in everything sent to a model. A provider
 * refuses such text, and would refuse every later request of the session.
 */
export const wellFormed = <Value>(value: Value): Value =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same shape, with other letters in its texts
  isWhole(value) ? value : (mend(value) as Value)

const isWhole = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed()
  if (typeof value !== "object" || value === null) return true
  if (Array.isArray(value)) return value.every(isWhole)
  for (const [name, entry] of Object.entries(value)) if (!name.isWellFormed() || !isWhole(entry)) return false
  return true
}

const mend = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed()
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(mend)
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name.toWellFormed(), mend(entry)]))
}
