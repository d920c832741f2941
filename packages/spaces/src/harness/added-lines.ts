/** Lines of a file that a harness appends to. Each call continues where the last one ended. Never throws. */
import { open } from "node:fs/promises"

import { LIMITS } from "./limits.ts"
import { lineSplitter } from "./line-splitter.ts"

/** Returns each whole line once. An unfinished line is returned when its end is there. */
export const addedLines = (path: string): ((each: (line: string) => void) => Promise<void>) => {
  const splitter = lineSplitter({ lineBytes: LIMITS.lineBytes, cutBytes: LIMITS.cutLineBytes })
  const chunk = Buffer.alloc(LIMITS.addedChunkBytes)
  let offset = 0
  return async (each) => {
    try {
      await using file = await open(path, "r")
      for (;;) {
        const { bytesRead } = await file.read({ buffer: chunk, position: offset })
        if (bytesRead === 0) return
        offset += bytesRead
        for (const line of splitter.feed(chunk.subarray(0, bytesRead)))
          if (line.kind === "whole") each(line.text)
      }
    } catch {
      // The file does not exist yet, or we may not read it. A later call may succeed.
    }
  }
}
