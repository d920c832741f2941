/** New lines of a log that another process writes: each call returns the lines finished since the last one. */
import { closeSync } from "node:fs"

import { decodeLine, type Fields } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { readAt } from "./log-lines.ts"
import { openForReading } from "./open-file.ts"

export interface EventTail {
  /** The objects of the new lines. Skips a line that is not an object or is longer than the bound. */
  readonly read: () => readonly Fields[]
}

const NEWLINE = 10

export const tailEvents = (file: string): EventTail => {
  let offset = 0
  let carried = Buffer.alloc(0)
  let isOverlong = false

  const linesIn = (chunk: Buffer): readonly Fields[] => {
    const found: Fields[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([carried, chunk.subarray(start, end)])
      const event = isOverlong ? undefined : decodeLine(line.toString("utf8"))
      if (event !== undefined) found.push(event)
      carried = Buffer.alloc(0)
      isOverlong = false
      start = end + 1
    }
    const rest = Buffer.concat([carried, chunk.subarray(start)])
    isOverlong ||= rest.length > LIMIT.lineBytes
    carried = isOverlong ? Buffer.alloc(0) : rest
    return found
  }

  return {
    read: () => {
      const log = openForReading(file)
      if (log === undefined) return []
      try {
        const found: Fields[] = []
        for (;;) {
          const chunk = readAt(log, offset, LIMIT.chunkBytes)
          offset += chunk.length
          found.push(...linesIn(chunk))
          if (chunk.length < LIMIT.chunkBytes) return found
        }
      } finally {
        closeSync(log)
      }
    },
  }
}
