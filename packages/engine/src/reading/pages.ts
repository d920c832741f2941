/** Lists in pages. A cursor is an opaque place in one list and one order. Any other cursor is refused, never guessed. */
import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { fromThrowing } from "../port/from-throwing.ts"
import type { Placed, Stretch } from "../port/store.ts"

export interface PageRequest {
  readonly cursor?: string
  readonly limit: number
  readonly order: "asc" | "desc"
  /** The item with which the total reaches this size is the last of the page. */
  readonly bytes?: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next?: string
  readonly previous?: string
}

/** `list` names what is read. A cursor of another list is refused. */
export const readPage = <Item>(
  list: string,
  request: PageRequest,
  read: (stretch: Stretch) => Effect.Effect<readonly Placed<Item>[], Failure>,
): Effect.Effect<Page<Item>, Failure> =>
  Effect.gen(function* () {
    const { cursor, limit, order } = request
    const start: Cursor | undefined =
      cursor === undefined ? undefined : yield* fromThrowing(() => decodeCursor(cursor, list))
    const at = start ?? { list, order, heading: "forward" }
    const upward = (at.order === "asc") === (at.heading === "forward")
    const { shown, more } = yield* readWithin(
      { direction: upward ? "up" : "down", limit, ...(start === undefined ? {} : { from: start.place }) },
      request.bytes ?? Number.POSITIVE_INFINITY,
      read,
    )
    if (at.heading === "backward") shown.reverse()
    const isForward = at.heading === "forward"
    const first = shown.at(0)?.place
    const last = shown.at(-1)?.place
    const link = (heading: Cursor["heading"], place: number | undefined): string | undefined =>
      place === undefined ? undefined : encodeCursor({ list, order: at.order, heading, place })
    const next = !isForward || more ? link("forward", last) : undefined
    const previous = (isForward ? start !== undefined : more) ? link("backward", first) : undefined
    return {
      items: shown.map(({ item }) => item),
      ...(next === undefined ? {} : { next }),
      ...(previous === undefined ? {} : { previous }),
    }
  })

/** With a size limit, read only a few items at a time, so that little is read beyond what fits. */
const FEW = 8

const readWithin = <Item>(
  stretch: Stretch,
  bytes: number,
  read: (stretch: Stretch) => Effect.Effect<readonly Placed<Item>[], Failure>,
): Effect.Effect<{ readonly shown: Placed<Item>[]; readonly more: boolean }, Failure> =>
  Effect.gen(function* () {
    const shown: Placed<Item>[] = []
    let size = 0
    let from = stretch.from
    for (;;) {
      const wanted = stretch.limit - shown.length
      const limit = bytes === Number.POSITIVE_INFINITY ? wanted : Math.min(FEW, wanted)
      const found = yield* read({ ...stretch, limit: limit + 1, ...(from === undefined ? {} : { from }) })
      for (const placed of found.slice(0, limit)) {
        shown.push(placed)
        if (bytes !== Number.POSITIVE_INFINITY) size += sizeOf(placed.item)
        if (size >= bytes) return { shown, more: found.at(-1) !== placed }
      }
      if (found.length <= limit || shown.length === stretch.limit)
        return { shown, more: found.length > limit }
      from = shown.at(-1)?.place
    }
  })

const sizeOf = (item: unknown): number => (JSON.stringify(item) ?? "").length

interface Cursor {
  /** The list this cursor belongs to. */
  readonly list: string
  readonly order: "asc" | "desc"
  /** Read on after this place, or back from it. */
  readonly heading: "forward" | "backward"
  readonly place: number
}

const encodeCursor = ({ list, order, heading, place }: Cursor): string =>
  Buffer.from(JSON.stringify([list, order === "asc" ? 1 : 0, heading === "forward" ? 1 : 0, place])).toString(
    "base64url",
  )

const decodeCursor = (cursor: string, list: string): Cursor => {
  const fields = parse(cursor)
  if (!Array.isArray(fields) || fields.length !== 4) throw new Failure("INVALID_CURSOR")
  const [name, ascending, forward, place]: readonly unknown[] = fields
  if (name !== list || !isBit(ascending) || !isBit(forward) || !Number.isSafeInteger(place))
    throw new Failure("INVALID_CURSOR")
  return {
    list,
    order: ascending === 1 ? "asc" : "desc",
    heading: forward === 1 ? "forward" : "backward",
    place: Number(place),
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
