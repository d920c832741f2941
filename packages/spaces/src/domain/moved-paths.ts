/** Paths of a moved project. Only values that are a whole path change; text that people wrote stays as it is. */
import { isJsonObject, type Json } from "@meridian/protocol"

export interface Move {
  readonly from: string
  readonly to: string
}

export const pathMoved = (path: string, { from, to }: Move): string =>
  path === from || path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path

export const movedIn = (value: Json, move: Move): Json => {
  if (typeof value === "string") return pathMoved(value, move)
  if (Array.isArray(value)) return value.map((item) => movedIn(item, move))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, movedIn(item ?? null, move)]))
}
