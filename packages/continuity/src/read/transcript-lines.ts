/**
 * The lines of a transcript that a harness may be writing right now: only a regular file, never through a link, from one
 * position to another, whole lines only. Anything but a JSON object is skipped and counted.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs"

import { parseObject, systemCode, type JsonObject } from "@meridian/protocol"

export interface OpenTranscript extends Disposable {
  readonly bytes: number
  /** The bytes from this position; fewer at the end of the file. */
  readonly slice: (from: number, length: number) => Buffer
  /** Where the last whole line ends. */
  readonly end: () => number
  readonly lines: (range: Range, onBad: (kind: "damaged" | "long") => void) => Generator<JsonObject>
  /** Where the last returned line ends. */
  readonly place: () => number
}

export interface Range {
  readonly from: number
  readonly to: number
}

export const LINE_LIMITS = { chunkBytes: 1024 * 1024, lineBytes: 64 * 1024 * 1024 } as const

/** Returns the reason, as the end of a sentence, when there is nothing to read. */
export const openTranscript = (path: string): OpenTranscript | string => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return "it does not exist"
    if (!found.isFile()) return "it is not a regular file"
    // A file may have become a pipe or a link since the check: neither is waited for or followed.
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
    const descriptor = openSync(path, flags)
    const { size } = fstatSync(descriptor)
    if (fstatSync(descriptor).isFile()) return opened(descriptor, size)
    closeSync(descriptor)
    return "it is not a regular file"
  } catch (error) {
    const code = systemCode(error)
    return code === "" ? "unknown" : `the system said ${code}`
  }
}

const opened = (descriptor: number, bytes: number): OpenTranscript => {
  const slice = (from: number, length: number): Buffer => {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, bytes - from)))
    let filled = 0
    while (filled < buffer.length) {
      const count = readSync(descriptor, buffer, filled, buffer.length - filled, from + filled)
      if (count === 0) break
      filled += count
    }
    return buffer.subarray(0, filled)
  }
  let place = 0
  return {
    bytes,
    slice,
    place: () => place,
    end: () => endOfLines(slice, bytes),
    *lines({ from, to }, onBad) {
      // One buffer for the whole file. An incomplete line at its end moves to the beginning.
      let buffer: Buffer = Buffer.allocUnsafe(Math.min(LINE_LIMITS.chunkBytes, Math.max(1, to - from)))
      let held = 0
      let at = from
      while (at < to) {
        if (held === buffer.length) buffer = grown(buffer)
        const count = readSync(descriptor, buffer, held, Math.min(buffer.length - held, to - at), at)
        if (count === 0) break
        at += count
        const filled = buffer.subarray(0, held + count)
        let start = 0
        for (let end = filled.indexOf(NEWLINE); end !== -1; end = filled.indexOf(NEWLINE, start)) {
          place = at - filled.length + end + 1
          if (end > start) yield* lineOf(filled.toString("utf8", start, end), onBad)
          start = end + 1
        }
        held = filled.length - start
        if (held <= LINE_LIMITS.lineBytes) filled.copyWithin(0, start)
        else {
          onBad("long")
          at = skipLine(slice, at, to)
          held = 0
        }
      }
    },
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}

const NEWLINE = 0x0a

const grown = (buffer: Buffer): Buffer => {
  const larger = Buffer.allocUnsafe(buffer.length * 2)
  buffer.copy(larger)
  return larger
}

function* lineOf(text: string, onBad: (kind: "damaged") => void): Generator<JsonObject> {
  const line = parseObject(text)
  if (line !== undefined) yield line
  else if (text.trim() !== "") onBad("damaged")
}

const endOfLines = (slice: OpenTranscript["slice"], bytes: number): number => {
  for (let to = bytes; to > 0;) {
    const from = Math.max(0, to - LINE_LIMITS.chunkBytes)
    const at = slice(from, to - from).lastIndexOf(NEWLINE)
    if (at !== -1) return from + at + 1
    to = from
  }
  return 0
}

/** The start of the line after this position. */
export const skipLine = (slice: OpenTranscript["slice"], from: number, to: number): number => {
  for (let at = from; at < to; at += LINE_LIMITS.chunkBytes) {
    const end = slice(at, Math.min(LINE_LIMITS.chunkBytes, to - at)).indexOf(NEWLINE)
    if (end !== -1) return at + end + 1
  }
  return to
}
