import { Failure, runId } from "@meridian/protocol"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { decodeLine, encodeLine } from "./json-line.ts"
import {
  decodeRunEvent,
  encodeRunEnd,
  encodeRunStart,
  encodeRunUpdate,
  breaksInRow,
  fruitlessAttempts,
  replayRuns,
  stallsInRow,
  type RunEnd,
  type RunEvent,
  type RunStart,
} from "./run.ts"

const ID = runId("r1")
const START: RunStart = {
  id: ID,
  status: "queued",
  depth: 0,
  model: "m",
  harness: "claude",
  skills: ["a"],
  skillPaths: ["/a"],
  background: true,
  startedAt: "2026-03-01T00:00:00.000Z",
  worker: { pid: 7, started: "12" },
}
const end = (by: RunEnd["by"], status: RunEnd["status"] = "failed"): RunEvent => ({
  event: "finalize",
  id: ID,
  status,
  exitCode: status === "succeeded" ? 0 : 1,
  finishedAt: "2026-03-01T00:01:00.000Z",
  by,
  ...(by === "repair" ? { error: "orphan_run" } : {}),
})

const events = fc.array(
  fc.constantFrom<RunEvent>(
    end("repair"),
    end("worker", "succeeded"),
    end("cancel", "cancelled"),
    { event: "update", id: ID, status: "running" },
    { event: "update", id: ID, harnessSessionId: "abc" },
  ),
  { maxLength: 8 },
)

test("the first real end stands, whatever repairs and updates come before or after it", () => {
  fc.assert(
    fc.property(events, (later) => {
      const [run] = replayRuns([{ event: "start", ...START }, ...later])
      const ends = later.filter((event) => event.event === "finalize")
      const expected = ends.find((event) => event.by !== "repair") ?? ends[0]
      const open = later.some((event) => event.event === "update" && event.status === "running")
        ? "running"
        : "queued"
      expect([run?.status, run?.end?.by, run?.end?.error]).toEqual([
        expected?.status ?? open,
        expected?.by,
        expected?.error,
      ])
    }),
  )
})

test("an update or an end of a run that never started is ignored", () => {
  expect(replayRuns([end("worker"), { event: "update", id: ID, status: "running" }])).toEqual([])
})

const LOG = "/p/runs.jsonl"
const readBack = (written: Parameters<typeof encodeLine>[0]) =>
  decodeRunEvent(decodeLine(encodeLine(written)) ?? {}, LOG)

test("a written record is read back unchanged", () => {
  const began = { number: 1, harness: "claude", began: "t1", harnessSessionId: "abc" }
  const ended = {
    number: 1,
    ended: "t2",
    why: "rate_limit",
    madeProgress: true,
    costUsd: 0.1,
    inputTokens: 3,
  }
  const written = [
    encodeRunStart({ ...START, task: "fix it" }),
    encodeRunUpdate(ID, {
      status: "running",
      harnessProcess: { pid: 9, started: "13" },
      attemptBegan: began,
    }),
    encodeRunUpdate(ID, { attemptEnded: ended, worker: { pid: 8, started: "14" } }),
    encodeRunEnd(ID, { status: "succeeded", exitCode: 0, finishedAt: "t", costUsd: 0.1, by: "worker" }),
  ].map(readBack)
  expect(replayRuns(written.flatMap((event) => event ?? []))).toEqual([
    {
      ...START,
      task: "fix it",
      status: "succeeded",
      harnessProcess: { pid: 9, started: "13" },
      worker: { pid: 8, started: "14" },
      attempts: [{ ...began, ...ended }],
      end: { status: "succeeded", exitCode: 0, finishedAt: "t", costUsd: 0.1, by: "worker" },
    },
  ])
})

test("a waiting run says for what and until when, until it works again", () => {
  const waiting = {
    status: "waiting",
    waitingFor: "limit",
    waitingUntil: "2026-03-01T03:47:00.000Z",
  } as const
  const told = [
    { event: "start", ...START },
    { event: "update", id: ID, ...waiting },
    { event: "update", id: ID, asked: "resume" },
  ] as const
  expect(replayRuns(told)[0]).toMatchObject({ ...waiting, asked: "resume" })
  expect(replayRuns([...told, { event: "update", id: ID, status: "running" }])[0]).toMatchObject({
    status: "running",
    waitingFor: undefined,
    waitingUntil: undefined,
    asked: undefined,
  })
})

test("an older writer's end is a repair if it says orphan_run", () => {
  const older = decodeRunEvent(
    { event: "finalize", id: "r1", status: "failed", exit_code: 1, error: "orphan_run" },
    LOG,
  )
  expect(older).toMatchObject({ by: "repair" })
})

test("a record of version 1 is upgraded: its attempt's number becomes an entry of the list", () => {
  const lines = [
    {
      v: 1,
      event: "start",
      id: "r1",
      model: "m",
      harness: "claude",
      started_at: "t",
      worker_pid: 7,
      worker_started: "12",
    },
    { v: 1, event: "update", id: "r1", attempt: 2, harness_session_id: "abc", status: "running" },
  ]
  expect(replayRuns(lines.flatMap((line) => decodeRunEvent(line, LOG) ?? []))).toMatchObject([
    {
      id: "r1",
      status: "running",
      worker: { pid: 7, started: "12" },
      attempts: [{ number: 2, harness: "", began: "", harnessSessionId: "abc" }],
    },
  ])
})

test("a record of a newer version is refused in words", () => {
  expect(() => decodeRunEvent({ v: 3, event: "start", id: "r1" }, LOG)).toThrow(
    new Failure("RECORD_NEWER", { file: LOG, what: "A line has version 3; this Meridian reads up to 2" }),
  )
})

test("an incomplete record of this version is ignored", () => {
  expect(decodeRunEvent({ v: 2, event: "start", id: "r1" }, LOG)).toBeUndefined()
  expect(decodeRunEvent({ v: 2, event: "other", id: "r1" }, LOG)).toBeUndefined()
})

test("fruitless attempts are counted from the last that produced something", () => {
  const attempt = (number: number, madeProgress: boolean) => ({
    number,
    harness: "claude",
    began: "",
    madeProgress,
  })
  const fruitless = (attempts: readonly ReturnType<typeof attempt>[], harness = "claude") =>
    fruitlessAttempts({ attempts, harness })
  expect(fruitless([])).toBe(0)
  expect(fruitless([attempt(1, false), attempt(2, false)])).toBe(2)
  expect(fruitless([attempt(1, false), attempt(2, true), attempt(3, false)])).toBe(1)
  // Another harness has taken over, so the first one's attempts do not count.
  expect(fruitless([attempt(1, false), attempt(2, false)], "codex")).toBe(0)
})

test("a stall after a while of work begins a new row", () => {
  const minute = (count: number): string => new Date(count * 60_000).toISOString()
  const attempt = (number: number, from: number, to: number, why = "stalled") => ({
    number,
    harness: "claude",
    began: minute(from),
    ended: minute(to),
    why,
  })
  const count = (...attempts: readonly ReturnType<typeof attempt>[]): number =>
    stallsInRow({ attempts, harness: "claude" }, 30 * 60_000)
  const [first, second] = [attempt(1, 0, 40), attempt(2, 40, 71)]
  expect([count(first), count(first, second)]).toEqual([1, 2])
  expect(count(first, second, attempt(3, 71, 200))).toBe(0)
  expect(count(first, attempt(2, 40, 50, "rate_limit"), attempt(3, 60, 91))).toBe(1)
})

test("answers that break off soon are one row, also when each said something", () => {
  const minute = (count: number): string => new Date(count * 60_000).toISOString()
  const attempt = (number: number, from: number, to: number, why = "connection") => ({
    number,
    harness: "claude",
    began: minute(from),
    ended: minute(to),
    why,
    madeProgress: true,
  })
  const count = (...attempts: readonly ReturnType<typeof attempt>[]): number =>
    breaksInRow({ attempts, harness: "claude" })
  const [first, second] = [attempt(1, 0, 1), attempt(2, 2, 5, "server_error")]
  expect([count(first), count(first, second)]).toEqual([1, 2])
  // Ten minutes of work begin a new row, and so does any other end.
  expect(count(first, attempt(2, 2, 12), attempt(3, 13, 14))).toBe(1)
  expect(count(first, second, attempt(3, 6, 7, "crashed"))).toBe(0)
})
