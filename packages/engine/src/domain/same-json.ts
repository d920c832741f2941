import { isJsonList, type Json } from "@meridian/protocol"

/** Ignores key order, and treats an undefined field as absent, because that is how values are stored. */
export const sameJson = (left: Json | undefined, right: Json | undefined): boolean => {
  if (left === right) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (isJsonList(left) || isJsonList(right))
    return (
      isJsonList(left) &&
      isJsonList(right) &&
      left.length === right.length &&
      left.every((entry, index) => sameJson(entry, right[index]))
    )
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  for (const name of names) if (!sameJson(left[name], right[name])) return false
  return true
}
