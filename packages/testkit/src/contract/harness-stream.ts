/** Reading: any stream, in any pieces, with any noise, gives the right verdict. */
import { encodeEvent, type Harness, readStream } from "@meridian/spaces"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { bytes, linesOf, oneSuccess, read, type RecordedRun, withLines } from "./harness-recording.ts"

export const streamContract = (harness: Harness, runs: readonly RecordedRun[]): void => {
  const succeeded = runs.filter((run) => run.expected.status === "succeeded")

  test.each(runs)("$name is judged as what it was", (run) => {
    expect(read(harness, run).verdict).toEqual(run.expected)
  })

  test.each(runs)("$name reads the same however its bytes arrive", (run) => {
    const whole = read(harness, run)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        expect(read(harness, run, pieces(run.stdout, sizes))).toEqual(whole)
      }),
      { numRuns: 10 },
    )
  })

  test.each(runs)("$name tells its session once, before anything else that belongs to it", (run) => {
    const { events, verdict } = read(harness, run)
    const id = verdict.harnessSessionId
    const told = events.filter((event) => event.type === "session")
    expect(told).toEqual(id === undefined ? [] : [{ type: "session", harnessSessionId: id }])
    // Hooks of the harness may print before the session has its name.
    expect(events.filter((event) => event.type !== "other").slice(0, 1)).toEqual(told)
  })

  test.each(runs)("$name keeps its verdict among lines that are no JSON objects", (run) => {
    const noise = ["not json", "[1,2]", '"text"', "{broken", "null", "\u0000\u0001"]
    const noisy = withLines(
      run,
      linesOf(run).flatMap((line, index) => [noise[index % noise.length] ?? "", line]),
    )
    const plain = read(harness, run)
    const skippedLines = plain.verdict.skippedLines + linesOf(run).length
    expect(read(harness, noisy)).toEqual({ ...plain, verdict: { ...plain.verdict, skippedLines } })
  })

  test.each(succeeded)("$name is no success without its last line and with exit code 1", (run) => {
    const cutShort = withLines(run, linesOf(run).slice(0, -1))
    const { verdict } = read(harness, { ...cutShort, end: { ...run.end, exitCode: 1 } })
    expect(verdict.status).toBe("failed")
  })

  test.each(runs)("$name becomes lines of events.jsonl that JSON can carry", (run) => {
    for (const event of read(harness, run).events) {
      const line = JSON.stringify(encodeEvent(event, "2026-01-01T00:00:00.000Z"))
      expect(JSON.parse(line)).toMatchObject({ v: 1, type: event.type })
      expect(line.length).toBeLessThan(150_000)
    }
  })

  test("an event of a later version is kept as other, cut to a bound", () => {
    const line = JSON.stringify({ type: "from.the.future", payload: "x".repeat(100_000) })
    const [event] = readStream(harness.parser()).feed(bytes(`${line}\n`))
    expect(event).toMatchObject({ type: "other", name: "from.the.future" })
    expect(event?.type === "other" ? event.raw.length : 0).toBeLessThan(5000)
  })

  test("a line of 10 MB is read", () => {
    const run = oneSuccess(runs)
    const huge = JSON.stringify({ type: "huge", payload: "x".repeat(10 * 1024 * 1024) })
    const { events, verdict } = read(harness, withLines(run, [huge, ...linesOf(run)]))
    expect(verdict).toEqual(run.expected)
    expect(events[0]).toMatchObject({ type: "other", name: "huge" })
  })

  test("a line of 40 MB is skipped and everything around it is read", () => {
    const run = oneSuccess(runs)
    const flood = function* (): Generator<Uint8Array> {
      yield bytes(`{"type":"huge","payload":"`)
      for (let megabyte = 0; megabyte < 40; megabyte += 1) yield new Uint8Array(1024 * 1024).fill(0x78)
      yield bytes(`"}\n`)
      yield run.stdout
    }
    const { verdict } = read(harness, run, flood())
    expect(verdict).toEqual({ ...run.expected, skippedLines: run.expected.skippedLines + 1 })
  })

  test("nothing that comes in makes it throw", () => {
    const field = fc.oneof(
      fc.constantFrom(...new Set(runs.flatMap((run) => linesOf(run).flatMap(namesIn)))),
      fc.string(),
    )
    const shapes = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.constant(null),
        field,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(field, tie("value"), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(fc.array(fc.dictionary(field, shapes.value, { maxKeys: 5 }), { maxLength: 6 }), (lines) => {
        const reader = readStream(harness.parser())
        for (const line of lines) reader.feed(bytes(`${JSON.stringify(line)}\n`))
        const { verdict } = reader.end({ exitCode: 0, signal: null, stderrTail: "" })
        expect(verdict.failure === undefined).toBe(verdict.status !== "failed")
      }),
      { numRuns: 300 },
    )
  })
}

/** Keys and short words of a recorded line. Random lines are made from them, so that they come close to real ones. */
const namesIn = (line: string): readonly string[] =>
  [...line.matchAll(/"([A-Za-z_.-]{2,24})"/g)].map((match) => match[1] ?? "")

const pieces = function* (whole: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < whole.byteLength; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    yield whole.subarray(at, at + size)
    at += size
  }
}
