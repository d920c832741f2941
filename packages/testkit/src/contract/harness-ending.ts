/** Judging: how a process ended, when its stream does not say. */
import type { Harness, ProcessEnd, Verdict } from "@meridian/spaces"
import { expect, test } from "vitest"

import { linesOf, oneSuccess, read, type RecordedRun, withLines } from "./harness-recording.ts"

export const endingContract = (harness: Harness, runs: readonly RecordedRun[]): void => {
  const begun = (): RecordedRun => {
    const run = oneSuccess(runs)
    return withLines(run, linesOf(run).slice(0, 1))
  }
  const ended = (end: Partial<ProcessEnd>): ProcessEnd => ({
    exitCode: 0,
    signal: null,
    stderrTail: "",
    ...end,
  })
  const judge = (end: Partial<ProcessEnd>, run = begun()): Verdict =>
    read(harness, { ...run, end: ended(end) }).verdict
  const silent = (end: Partial<ProcessEnd>): Verdict => judge(end, { ...begun(), stdout: new Uint8Array() })

  test.each([
    [{ stopped: "cancelled", signal: "SIGTERM", exitCode: null }, "cancelled"],
    [{ stopped: "cancelled", exitCode: 0 }, "cancelled"],
    [{ stopped: "cancelled", exitCode: 1 }, "cancelled"],
    [{ signal: "SIGINT", exitCode: null }, "cancelled"],
    [{ signal: "SIGTERM", exitCode: null }, "cancelled"],
    [{ exitCode: 143 }, "cancelled"],
    [{ exitCode: 130 }, "cancelled"],
  ] as const)("%o of an unfinished run is %s", (end, status) => {
    expect(judge(end)).toMatchObject({ status })
    expect(judge(end).failure).toBeUndefined()
  })

  test.each([
    [{ stopped: "timeout", signal: "SIGKILL", exitCode: null }, "timeout"],
    [{ signal: "SIGKILL", exitCode: null }, "crashed"],
    [{ signal: "SIGSEGV", exitCode: null }, "crashed"],
    [{ exitCode: 0 }, "incomplete"],
    [{ exitCode: 5 }, "unclassified"],
    [{ exitCode: 1, stderrTail: "Error: 429 Too Many Requests" }, "rate_limit"],
    [{ exitCode: 1, stderrTail: "connect ECONNREFUSED 127.0.0.1:1" }, "connection"],
  ] as const)("%o of an unfinished run is a failure of class %s", (end, failure) => {
    expect(judge(end)).toMatchObject({ status: "failed", failure: { class: failure } })
  })

  test("silence with exit code 0 is not a success", () => {
    expect(silent({ exitCode: 0 })).toMatchObject({ status: "failed", failure: { class: "no_output" } })
  })

  test("a failed launch is explained by what it said on stderr, without colours and keys", () => {
    const stderrTail = "warning: old\n\u001b[31mError:\u001b[0m bad key sk-abcdefghijklmnop1234 \n\n"
    expect(silent({ exitCode: 1, stderrTail }).failure?.message).toBe("Error: bad key [secret]")
  })

  test("a run that finished before it was cancelled stays finished", () => {
    for (const run of runs.filter(({ expected }) => expected.status === "succeeded"))
      expect(read(harness, { ...run, end: { ...run.end, stopped: "cancelled" } }).verdict).toEqual(
        run.expected,
      )
  })
}
