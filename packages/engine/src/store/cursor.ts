/** Opaque places in a list. A cursor belongs to one list in one order; anything else is refused, never guessed. */
import { Failure } from "@meridian/protocol"

export interface Place {
  /** The list it belongs to. */
  readonly list: string
  readonly order: "asc" | "desc"
  /** Read on behind this position, or back from before it. */
  readonly direction: "forward" | "backward"
  readonly position: number
}

export const encodeCursor = (place: Place): string =>
  Buffer.from(
    JSON.stringify([
      place.list,
      place.order === "asc" ? 1 : 0,
      place.direction === "forward" ? 1 : 0,
      place.position,
    ]),
  ).toString("base64url")

export const decodeCursor = (cursor: string, list: string): Place => {
  const fields = parse(cursor)
  if (!Array.isArray(fields) || fields.length !== 4) throw new Failure("INVALID_CURSOR")
  const [name, ascending, forward, position]: readonly unknown[] = fields
  if (name !== list || !isBit(ascending) || !isBit(forward) || !Number.isSafeInteger(position))
    throw new Failure("INVALID_CURSOR")
  return {
    list,
    order: ascending === 1 ? "asc" : "desc",
    direction: forward === 1 ? "forward" : "backward",
    position: Number(position),
  }
}

const isBit = (value: unknown): boolean => value === 0 || value === 1

const parse = (cursor: string): unknown => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- this is the codec
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))
  } catch {
    return undefined
  }
}
