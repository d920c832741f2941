/**
 * The codec of stored events. Every row is checked completely against the shape of its type. A row that does not fit
 * becomes an unknown event with its place and its problem, and is skipped; it is never used in part. Keys that a shape does
 * not list are kept, because a newer Meridian may have written them.
 */
import { DURABLE_EVENTS, type DurableType, type StoredEvent, type UnknownEvent } from "./session-event.ts"
import { decoder, tester } from "./shape/decode.ts"
import { problemText } from "./shape/problem.ts"

/** A row as stored. `data` should be JSON text. */
export interface EventRow {
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly data: string
}

/** Never throws. */
export const decodeEvent = (row: EventRow): StoredEvent | UnknownEvent => {
  const { seq, time, type } = row
  const data = parse(row.data)
  if (TESTS.get(type)?.(data) !== true) return unknownEvent(row, data)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test of this type looked at all of it
  return { seq, time, type, data } as StoredEvent
}

/**
 * An event as a frame of server-sent events. Its id is the sequence, so it moves the reader's cursor
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). The data equals `JSON.stringify(decodeEvent(row))`; for
 * a row that fits, the stored text is passed on.
 */
export const eventFrame = (row: EventRow): string =>
  fitsAsStored(row) ? storedFrame(row) : frameOf(row.seq, JSON.stringify(decodeEvent(row)))

/** Whether the row fits its type and its stored text can be passed on. */
export const fitsAsStored = ({ type, data }: EventRow): boolean =>
  // We never write line breaks between keys. One would end the frame.
  TESTS.get(type)?.(parse(data)) === true && !data.includes("\n") && !data.includes("\r")

/** The frame of a row that fits as stored. */
export const storedFrame = ({ seq, time, type, data }: EventRow): string =>
  frameOf(seq, `{"seq":${seq},"time":${time},"type":"${type}","data":${data}}`)

/** JSON has no raw line breaks, so one `data` line is enough. */
const frameOf = (seq: number, json: string): string => `id: ${seq}\ndata: ${json}\n\n`

const TESTS: ReadonlyMap<string, (data: unknown) => boolean> = new Map(
  Object.entries(DURABLE_EVENTS).map(([type, shape]) => [type, tester(shape, "keep")]),
)

const parse = (text: string): unknown => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- this is the codec
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Rare, so it may take time: the fast test only says no. */
const unknownEvent = ({ seq, time, type }: EventRow, data: unknown): UnknownEvent => {
  const unknown = (told: Omit<UnknownEvent["data"], "storedType">): UnknownEvent => ({
    seq,
    time,
    type: "unknown",
    data: { storedType: type, ...told },
  })
  if (!isDurableType(type)) return unknown({ reason: "unknown-type" })
  if (data === undefined) return unknown({ reason: "unreadable" })
  const decoded = decoder(DURABLE_EVENTS[type], { unknown: "keep" })(data)
  return decoded.tag === "value"
    ? unknown({ reason: "unreadable" })
    : unknown({ reason: "unreadable", problem: problemText(decoded.problem, "The data") })
}

const isDurableType = (type: string): type is DurableType => Object.hasOwn(DURABLE_EVENTS, type)
