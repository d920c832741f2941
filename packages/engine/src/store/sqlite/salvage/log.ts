/** The write-ahead log of an SQLite file: the newest form of each page up to the last whole commit. */
import { closeSync, fstatSync, openSync } from "node:fs"

import { readAt } from "./read-at.ts"

export interface Log {
  /** Undefined when there is no log or it is empty. */
  readonly pageSize: number | undefined
  /** How many pages the database has after the last commit. */
  readonly count: number | undefined
  readonly page: (number: number) => Buffer | undefined
  readonly close: () => void
}

const NOTHING: Log = { pageSize: undefined, count: undefined, page: () => undefined, close: () => undefined }

const LOG_HEADER = 32
const FRAME_HEADER = 24
const MAGIC = 0x37_7f_06_82

export const readLog = (file: string): Log => {
  let descriptor: number
  try {
    descriptor = openSync(file, "r")
  } catch {
    return NOTHING
  }
  const head = readAt(descriptor, 0, LOG_HEADER)
  const isLog = head.length === LOG_HEADER && (head.readUInt32BE(0) & ~1) >>> 0 === MAGIC
  const size = isLog ? head.readUInt32BE(8) : 0
  if (size < 512 || size > 65_536 || (size & (size - 1)) !== 0) {
    closeSync(descriptor)
    return NOTHING
  }
  const isBig = (head.readUInt32BE(0) & 1) === 1
  const salt = head.subarray(16, 24)
  let sum = checksum(head.subarray(0, 24), [0, 0], isBig)
  const newest = new Map<number, number>()
  let open: (readonly [number, number])[] = []
  let count: number | undefined
  const end = fstatSync(descriptor).size
  for (let at = LOG_HEADER; at + FRAME_HEADER + size <= end; at += FRAME_HEADER + size) {
    const frame = readAt(descriptor, at, FRAME_HEADER + size)
    if (frame.length < FRAME_HEADER + size || !frame.subarray(8, 16).equals(salt)) break
    sum = checksum(frame.subarray(FRAME_HEADER), checksum(frame.subarray(0, 8), sum, isBig), isBig)
    // From here on the frames are from an older log, or torn.
    if (frame.readUInt32BE(16) !== sum[0] || frame.readUInt32BE(20) !== sum[1]) break
    open.push([frame.readUInt32BE(0), at + FRAME_HEADER])
    const after = frame.readUInt32BE(4)
    if (after === 0) continue
    for (const [page, place] of open) newest.set(page, place)
    open = []
    count = after
  }
  return {
    pageSize: count === undefined ? undefined : size,
    count,
    page: (number) => {
      const place = newest.get(number)
      return place === undefined ? undefined : readAt(descriptor, place, size)
    },
    close: () => closeSync(descriptor),
  }
}

type Checksum = readonly [number, number]

const checksum = (bytes: Buffer, [first, second]: Checksum, isBig: boolean): Checksum => {
  let [left, right] = [first, second]
  const word = (at: number): number => (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at))
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    left = (left + word(at) + right) >>> 0
    right = (right + word(at + 4) + left) >>> 0
  }
  return [left, right]
}
