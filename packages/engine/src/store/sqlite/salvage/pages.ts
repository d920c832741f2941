/**
 * The pages of an SQLite file, read without SQLite. SQLite refuses a file with a damaged header or inner page, although
 * most of its pages are whole. Pages in the write-ahead log take precedence over those in the file.
 * (https://sqlite.org/fileformat2.html)
 */
import { closeSync, fstatSync, openSync } from "node:fs"

import { readLog } from "./log.ts"
import { readAt } from "./read-at.ts"

export interface Pages {
  readonly count: number
  /** `pragma user_version`; undefined when the header has none. */
  readonly version: number | undefined
  /** Numbered from 1. Undefined when there is no such page. */
  readonly page: (number: number) => Buffer | undefined
  /** The page is known to hold nothing any more. */
  readonly isFree: (number: number) => boolean
  readonly close: () => void
}

const HEADER = "SQLite format 3\0"
export const HEADER_BYTES = 100
/** SQLite's default, which our databases use. */
const USUAL_SIZE = 4_096

export const openPages = (file: string): Pages => {
  const descriptor = openSync(file, "r")
  const head = readAt(descriptor, 0, HEADER_BYTES)
  const isReadable = head.length === HEADER_BYTES && head.toString("latin1", 0, 16) === HEADER
  const log = readLog(`${file}-wal`)
  const size = log.pageSize ?? (isReadable ? sizeIn(head) : undefined) ?? USUAL_SIZE
  const inFile = Math.floor(fstatSync(descriptor).size / size)
  const page: Pages["page"] = (number) => {
    if (!Number.isSafeInteger(number) || number < 1) return undefined
    const newer = log.page(number)
    if (newer !== undefined) return newer
    const found = readAt(descriptor, (number - 1) * size, size)
    return found.length === size ? found : undefined
  }
  const count = log.count ?? inFile
  const first = page(1)
  const version = first?.toString("latin1", 0, 16) === HEADER ? first.readUInt32BE(60) : undefined
  const free =
    version === undefined ? new Set<number>() : freePages(first?.readUInt32BE(32) ?? 0, page, count)
  return {
    count,
    version,
    page,
    isFree: (number) => free.has(number),
    close: () => {
      log.close()
      closeSync(descriptor)
    },
  }
}

/** Pages with deleted rows. A damaged list ends where it is damaged. */
const freePages = (first: number, page: Pages["page"], count: number): ReadonlySet<number> => {
  const free = new Set<number>()
  for (let trunk = first; trunk > 0 && !free.has(trunk);) {
    const content = page(trunk)
    if (content === undefined) break
    free.add(trunk)
    const leaves = Math.min(content.readUInt32BE(4), content.length / 4 - 2, count)
    for (let leaf = 0; leaf < leaves; leaf += 1) free.add(content.readUInt32BE(8 + leaf * 4))
    trunk = content.readUInt32BE(0)
  }
  return free
}

const sizeIn = (head: Buffer): number | undefined => {
  const told = head.readUInt16BE(16)
  const size = told === 1 ? 65_536 : told
  return size >= 512 && (size & (size - 1)) === 0 ? size : undefined
}
