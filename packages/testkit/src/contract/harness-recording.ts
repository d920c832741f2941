/** A recorded run, and how to read it again. */
import type { Harness, HarnessEvent, ProcessEnd, Verdict } from "@meridian/spaces"
import { readStream } from "@meridian/spaces"

export interface RecordedRun {
  readonly name: string
  readonly stdout: Uint8Array
  readonly end: ProcessEnd
  /** The run resumed or forked a session. */
  readonly continued: boolean
  readonly expected: Verdict
}

export interface Reading {
  readonly events: readonly HarnessEvent[]
  readonly verdict: Verdict
}

export const read = (
  harness: Harness,
  run: RecordedRun,
  chunks: Iterable<Uint8Array> = [run.stdout],
): Reading => {
  const reader = readStream(harness.parser({ continued: run.continued }))
  const events = [...chunks].flatMap((chunk) => reader.feed(chunk))
  const { events: last, verdict } = reader.end(run.end)
  return { events: [...events, ...last], verdict }
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const linesOf = (run: RecordedRun): readonly string[] =>
  new TextDecoder()
    .decode(run.stdout)
    .split("\n")
    .filter((line) => line !== "")
export const withLines = (run: RecordedRun, lines: readonly string[]): RecordedRun => ({
  ...run,
  stdout: bytes(lines.map((line) => `${line}\n`).join("")),
})

/** Any recording that ended well, as material for tests of a single case. */
export const oneSuccess = (runs: readonly RecordedRun[]): RecordedRun => {
  const run = runs.find(({ expected }) => expected.status === "succeeded")
  if (run === undefined) throw new Error("a contract needs one successful recording")
  return run
}
