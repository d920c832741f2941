/** The rows on one page, of any table. An incomplete row is skipped. */
import { HEADER_BYTES, type Pages } from "./pages.ts"

export type Value = null | number | string

export interface FoundRow {
  readonly rowid: number
  /** Undefined when part of the row is missing. */
  readonly values: () => readonly Value[] | undefined
}

const TABLE_LEAF = 13

/** How many rows a page has; 0 for a page without rows. */
export const rowsOn = (number: number, pages: Pages): number => {
  const page = pages.page(number)
  const start = startOf(number)
  if (page === undefined || page[start] !== TABLE_LEAF) return 0
  return Math.min(page.readUInt16BE(start + 3), (page.length - start - 8) / 2)
}

export const rowAt = (number: number, index: number, pages: Pages): FoundRow | undefined => {
  const page = pages.page(number)
  if (page === undefined) return undefined
  const cell = page.readUInt16BE(startOf(number) + 8 + index * 2)
  const length = readVarint(page, cell)
  const rowid = length === undefined ? undefined : readVarint(page, length.next)
  if (length === undefined || rowid === undefined || length.value > pages.count * page.length)
    return undefined
  return {
    rowid: rowid.value,
    values: () => {
      const payload = payloadOf(page, { at: rowid.next, length: length.value }, pages)
      return payload === undefined ? undefined : decodeRecord(payload)
    },
  }
}

const startOf = (page: number): number => (page === 1 ? HEADER_BYTES : 0)

/** What does not fit on the page continues on overflow pages, each naming the next. */
const payloadOf = (
  page: Buffer,
  { at, length }: { readonly at: number; readonly length: number },
  pages: Pages,
): Buffer | undefined => {
  const usable = page.length
  const most = usable - 35
  if (length <= most) return at + length <= usable ? page.subarray(at, at + length) : undefined
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const fitting = least + ((length - least) % (usable - 4))
  const here = fitting <= most ? fitting : least
  if (at + here + 4 > usable) return undefined
  const parts = [page.subarray(at, at + here)]
  let left = length - here
  for (let next = page.readUInt32BE(at + here); left > 0;) {
    const more = next === 0 ? undefined : pages.page(next)
    if (more === undefined) return undefined
    const part = more.subarray(4, Math.min(usable, 4 + left))
    parts.push(part)
    left -= part.length
    next = more.readUInt32BE(0)
  }
  return Buffer.concat(parts)
}

const decodeRecord = (payload: Buffer): readonly Value[] | undefined => {
  const head = readVarint(payload, 0)
  if (head === undefined || head.value > payload.length) return undefined
  const values: Value[] = []
  let body = head.value
  for (let at = head.next; at < head.value;) {
    const kind = readVarint(payload, at)
    if (kind === undefined) return undefined
    const size = sizeOf(kind.value)
    if (size === undefined || body + size > payload.length) return undefined
    values.push(decodeValue(kind.value, payload.subarray(body, body + size)))
    body += size
    at = kind.next
  }
  return values
}

const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const

const sizeOf = (kind: number): number | undefined =>
  kind < SIZES.length ? SIZES[kind] : kind < 12 ? undefined : Math.floor((kind - 12) / 2)

const decodeValue = (kind: number, bytes: Buffer): Value => {
  if (kind >= 13 && kind % 2 === 1) return bytes.toString("utf8")
  if (kind === 0 || kind >= 12) return null
  if (kind === 7) return bytes.readDoubleBE(0)
  if (kind === 6) return Number(bytes.readBigInt64BE(0))
  return kind >= 8 ? kind - 8 : bytes.readIntBE(0, bytes.length)
}

const readVarint = (
  bytes: Buffer,
  at: number,
): { readonly value: number; readonly next: number } | undefined => {
  let value = 0
  for (let index = 0; index < 9; index += 1) {
    const byte = bytes[at + index]
    if (byte === undefined) return undefined
    if (index === 8) return { value: value * 256 + byte, next: at + 9 }
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, next: at + index + 1 }
  }
  return undefined
}
