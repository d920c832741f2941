/**
 * Reads the lines of a log, forwards and backwards, in bounded memory. A line over the bound is reported but never
 * held.
 */
import { closeSync, fstatSync, readSync } from "node:fs"

import { decodeLine } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { openForReading } from "./open-file.ts"

const NEWLINE = 10

/** Offset of the first byte of the line that contains the byte before `end`. */
export const lineStartBefore = (log: number, end: number): number => {
  let at = end
  while (at > 0) {
    const size = Math.min(LIMIT.chunkBytes, at)
    const found = readAt(log, at - size, size).lastIndexOf(NEWLINE)
    if (found !== -1) return at - size + found + 1
    at -= size
  }
  return 0
}

/**
 * Calls back with each line and its number, and with undefined for a line over the bound. A tail without a newline
 * counts only if it is a whole object.
 */
export const scanLines = (file: string, each: (line: string | undefined, number: number) => void): void => {
  const log = openForReading(file)
  if (log === undefined) return
  try {
    let carried = Buffer.alloc(0)
    let overlong = false
    let number = 0
    let offset = 0
    const emit = (line: Buffer): void => {
      number += 1
      each(overlong || line.length > LIMIT.lineBytes ? undefined : line.toString("utf8"), number)
      overlong = false
    }
    for (;;) {
      const chunk = readAt(log, offset, LIMIT.chunkBytes)
      if (chunk.length === 0) break
      offset += chunk.length
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const piece = chunk.subarray(start, end)
        emit(carried.length === 0 ? piece : Buffer.concat([carried, piece]))
        carried = Buffer.alloc(0)
        start = end + 1
      }
      const rest = chunk.subarray(start)
      if (carried.length + rest.length > LIMIT.lineBytes) {
        overlong = true
        carried = Buffer.alloc(0)
      } else carried = carried.length === 0 ? Buffer.from(rest) : Buffer.concat([carried, rest])
    }
    if (!overlong && carried.length > 0 && decodeLine(carried.toString("utf8")) !== undefined) emit(carried)
  } finally {
    closeSync(log)
  }
}

interface BackwardLine {
  /** Undefined if longer than the bound. */
  readonly line: string | undefined
  readonly start: number
  /** The tail after the last newline. */
  readonly last: boolean
}

export function* linesBackwards(log: number): Generator<BackwardLine> {
  const size = fstatSync(log).size
  let carried = Buffer.alloc(0)
  let overlong = false
  let last = true
  let offset = size
  const line = (bytes: Buffer, start: number): BackwardLine => {
    const made = {
      line: overlong || bytes.length > LIMIT.lineBytes ? undefined : bytes.toString("utf8"),
      start,
      last,
    }
    overlong = false
    last = false
    return made
  }
  while (offset > 0) {
    const length = Math.min(LIMIT.chunkBytes, offset)
    offset -= length
    const chunk = readAt(log, offset, length)
    let end = chunk.length
    for (
      let at = chunk.lastIndexOf(NEWLINE);
      at !== -1;
      at = at === 0 ? -1 : chunk.lastIndexOf(NEWLINE, at - 1)
    ) {
      const piece = chunk.subarray(at + 1, end)
      yield line(carried.length === 0 ? piece : Buffer.concat([piece, carried]), offset + at + 1)
      carried = Buffer.alloc(0)
      end = at
    }
    const rest = chunk.subarray(0, end)
    if (carried.length + rest.length > LIMIT.lineBytes) {
      overlong = true
      carried = Buffer.alloc(0)
    } else carried = Buffer.concat([rest, carried])
  }
  if (size > 0) yield line(carried, 0)
}

/** Newlines between two offsets. */
export const countLines = (log: number, from: number, to: number): number => {
  let count = 0
  for (let offset = from; offset < to;) {
    const chunk = readAt(log, offset, Math.min(LIMIT.chunkBytes, to - offset))
    if (chunk.length === 0) break
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1
    offset += chunk.length
  }
  return count
}

export const readAt = (log: number, position: number, length: number): Buffer => {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(log, buffer, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}
