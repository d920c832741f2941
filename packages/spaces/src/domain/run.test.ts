import { runId } from "@meridian/protocol"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { decodeLine, encodeLine } from "./json-line.ts"
import {
  decodeRunEvent,
  encodeRunEnd,
  encodeRunStart,
  encodeRunUpdate,
  replayRuns,
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

test("an update or an end of a run that never started says nothing", () => {
  expect(replayRuns([end("worker"), { event: "update", id: ID, status: "running" }])).toEqual([])
})

test("what is written is read back as it was", () => {
  const written = [
    encodeRunStart(START),
    encodeRunUpdate(ID, { status: "running", harnessProcess: { pid: 9, started: "13" }, attempt: 2 }),
    encodeRunEnd(ID, { status: "succeeded", exitCode: 0, finishedAt: "t", costUsd: 0.1, by: "worker" }),
  ].map((event) => decodeRunEvent(decodeLine(encodeLine(event)) ?? {}))
  expect(replayRuns(written.flatMap((event) => event ?? []))).toEqual([
    {
      ...START,
      status: "succeeded",
      harnessProcess: { pid: 9, started: "13" },
      attempt: 2,
      end: { status: "succeeded", exitCode: 0, finishedAt: "t", costUsd: 0.1, by: "worker" },
    },
  ])
})

test("an end of an older writer is a repair when it says orphan_run", () => {
  const older = decodeRunEvent({
    event: "finalize",
    id: "r1",
    status: "failed",
    exit_code: 1,
    error: "orphan_run",
  })
  expect(older).toMatchObject({ by: "repair" })
})
