import { editDistance } from "@meridian/protocol"

/** One typing error (two in long words), a missing or extra s, or a different letter case. */
export const isMisspelt = (key: string, known: string): boolean => {
  if (key.length > 24) return false
  const [a, b] = [key.toLowerCase(), known.toLowerCase()]
  if (a === b || `${a}s` === b || a === `${b}s` || a === `${b}es`) return true
  if (b.length < 4) return false
  return editDistance(a, b) <= (b.length >= 7 ? 2 : 1)
}
