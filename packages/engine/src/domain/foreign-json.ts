/** Copies a foreign value that will be stored and sent as JSON, or says why it is not JSON. Never throws. */
import type { Json } from "@meridian/protocol"

export type ForeignJson =
  | { readonly kind: "json"; readonly value: Json }
  | { readonly kind: "problem"; readonly why: string }

export interface JsonBounds {
  /** The most levels of objects and lists. */
  readonly depth: number
  /** The most characters of its text. */
  readonly characters: number
}

class Trouble extends Error {}

export const readForeignJson = (value: unknown, bounds: JsonBounds): ForeignJson => {
  try {
    const copy = copyOf(value, bounds.depth, { left: bounds.characters })
    const text = JSON.stringify(copy)
    if (text.length > bounds.characters) throw new Trouble(tooLong(bounds))
    return { kind: "json", value: copy }
  } catch (error) {
    return { kind: "problem", why: error instanceof Trouble ? error.message : "is not JSON" }
  }

  function copyOf(from: unknown, depth: number, room: { left: number }): Json {
    room.left -= 1
    if (room.left < 0) throw new Trouble(tooLong(bounds))
    if (from === null || typeof from === "boolean" || typeof from === "string") return from
    if (typeof from === "number") {
      if (!Number.isFinite(from)) throw new Trouble("holds a number that is not one")
      return from
    }
    if (typeof from !== "object") throw new Trouble(`holds a ${typeof from}`)
    if (depth === 0) throw new Trouble(`has more than ${bounds.depth} levels, or refers to itself`)
    if (Array.isArray(from)) return from.map((item: unknown) => copyOf(item, depth - 1, room))
    const kind: unknown = Object.getPrototypeOf(from)
    if (kind !== Object.prototype && kind !== null)
      throw new Trouble("holds an object that is more than its fields")
    const fields = Object.entries(from).filter(([, item]) => item !== undefined)
    return Object.fromEntries(fields.map(([name, item]) => [name, copyOf(item, depth - 1, room)]))
  }
}

const tooLong = ({ characters }: JsonBounds): string => `is longer than ${characters} characters as JSON`
