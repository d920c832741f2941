/**
 * A file of lines, one window at a time: some whole lines with their position. A line still being written belongs to
 * no window yet.
 */
import type { OpenTranscript } from "@meridian/continuity"
import { parseObject, type JsonObject } from "@meridian/protocol"

import { SEARCH_LIMITS } from "./limits.ts"

export interface Window {
  readonly from: number
  readonly to: number
  readonly entries: readonly JsonObject[]
}

export function* readWindows(
  file: Pick<OpenTranscript, "slice">,
  range: { readonly from: number; readonly to: number },
): Generator<Window> {
  const { windowBytes, readBytes, lineBytes } = SEARCH_LIMITS
  let at = range.from
  let wanted: number = readBytes
  while (at < range.to) {
    const buffer = file.slice(at, Math.min(wanted, range.to - at))
    const isLast = at + buffer.length >= range.to
    let start = 0
    while (start < buffer.length) {
      const full = buffer.indexOf(NEWLINE, Math.min(start + windowBytes, buffer.length - 1))
      // If the buffer does not reach the end, only certainly whole windows are taken.
      const end = full !== -1 ? full + 1 : isLast ? buffer.lastIndexOf(NEWLINE) + 1 : 0
      if (end <= start) break
      yield { from: at + start, to: at + end, entries: entriesIn(buffer.subarray(start, end)) }
      start = end
    }
    at += start
    if (isLast && start === 0) return
    if (start > 0) wanted = readBytes
    else if (wanted < lineBytes) wanted *= 2
    else {
      // Longer than any line may be: it is skipped.
      at = skipLine(file, at + buffer.length, range.to)
      wanted = readBytes
    }
  }
}

const NEWLINE = 0x0a

const entriesIn = (bytes: Buffer): readonly JsonObject[] =>
  bytes
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const entry = line === "" ? undefined : parseObject(line)
      return entry === undefined ? [] : [entry]
    })

const skipLine = (file: Pick<OpenTranscript, "slice">, from: number, to: number): number => {
  for (let at = from; at < to; at += SEARCH_LIMITS.readBytes) {
    const found = file.slice(at, Math.min(SEARCH_LIMITS.readBytes, to - at)).indexOf(NEWLINE)
    if (found !== -1) return at + found + 1
  }
  return to
}
