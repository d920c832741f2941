/** Turns the bytes of stdout into events and a verdict: the splitter and a parser together. */
import type { HarnessEvent, ProcessEnd, StreamParser, Verdict } from "../port/harness.ts"
import { LIMITS } from "./limits.ts"
import { type Line, lineSplitter } from "./line-splitter.ts"

export interface StreamReader {
  readonly feed: (chunk: Uint8Array) => readonly HarnessEvent[]
  /** Call once, when the process has ended and its output is drained. */
  readonly end: (end: ProcessEnd) => { readonly events: readonly HarnessEvent[]; readonly verdict: Verdict }
}

export const readStream = (parser: StreamParser): StreamReader => {
  const splitter = lineSplitter({ lineBytes: LIMITS.lineBytes, cutBytes: LIMITS.cutLineBytes })
  const read = (line: Line): readonly HarnessEvent[] =>
    line.kind === "whole" ? parser.push(line.text) : parser.pushCut(line.start, line.bytes)
  return {
    feed: (chunk) => splitter.feed(chunk).flatMap(read),
    end: (end) => {
      const events = splitter.end().flatMap(read)
      return { events, verdict: parser.end(end) }
    },
  }
}
