/** Adapters with programs that behave as badly as real ones can: nothing is lost, and nothing passes for a success. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { harnessSessionId } from "@meridian/protocol"
import { type HarnessEvent, HARNESSES, type LaunchRequest } from "@meridian/spaces"
import { installPretendHarness, type PretendBehaviour, type PretendName } from "@meridian/testkit"
import { afterAll, describe, expect, test } from "vitest"

import { type PlannedRun, runPlan, type RunPlanOptions } from "./run-plan.ts"

const root = mkdtempSync(join(tmpdir(), "meridian-pretend-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const NAMES: readonly PretendName[] = ["claude", "codex", "opencode"]
const environment = {
  PATH: dirname(process.execPath) + ":/usr/bin:/bin",
  HOME: root,
  CODEX_HOME: join(root, "codex"),
}

describe.each(NAMES)("%s", (name) => {
  const scene = async (
    behaviour: PretendBehaviour,
    request: Partial<LaunchRequest> = {},
    options: Partial<RunPlanOptions> = {},
  ): Promise<PlannedRun & { readonly pretend: ReturnType<typeof installPretendHarness> }> => {
    const harness = await HARNESSES.find(({ id }) => id === name)?.load()
    if (harness === undefined) throw new Error(name)
    const cwd = mkdtempSync(join(root, `${name}-`))
    const pretend = installPretendHarness(join(cwd, "bin"), { as: name, behaviour })
    const run = await runPlan({
      harness,
      request: {
        mode: "headless",
        cwd,
        environment,
        binary: pretend.path,
        scratch: join(cwd, "scratch"),
        session: { kind: "new", chosen: "0f0e0d0c-1111-4222-8333-444455556666" },
        prompt: "Say hello.",
        ...request,
      },
      ...options,
    })
    return { ...run, pretend }
  }
  const killAt = (type: HarnessEvent["type"], signal: NodeJS.Signals): Partial<RunPlanOptions> => ({
    onEvent: (event, kill) => {
      if (event.type === type) kill(signal)
    },
  })

  test("answers a prompt of a megabyte, word for word", async () => {
    const prompt = `${"long words ".repeat(100_000)}\nend é`
    const { verdict, pretend } = await scene({ answer: { echo: true } }, { prompt })
    expect(verdict).toMatchObject({ status: "succeeded", report: prompt })
    expect(pretend.calls()).toMatchObject([{ mode: "headless", stdin: prompt }])
  })

  test("continues the session it is told to", async () => {
    const id = harnessSessionId(name === "opencode" ? "ses_before" : "11111111-2222-4333-8444-555555555555")
    const { verdict } = await scene({}, { session: { kind: "continue", id } })
    expect(verdict.harnessSessionId).toBe(id)
  })

  test("forks into another session", async () => {
    const id = harnessSessionId("11111111-2222-4333-8444-555555555555")
    const { verdict } = await scene({}, { session: { kind: "fork", id } })
    expect(verdict.status).toBe("succeeded")
    expect(verdict.harnessSessionId).not.toBe(id)
  })

  test("plays a recording through a real pipe", async () => {
    const replay = join(import.meta.dirname, `../fixture/recordings/${name}-tool`)
    expect((await scene({ replay })).verdict).toMatchObject({
      status: "succeeded",
      report: "There is a README.",
    })
  })

  test.each(["rate_limit", "overload", "server_error"] as const)(
    "a refusal for %s is transient",
    async (failure) => {
      const { verdict } = await scene({ failFirst: { times: 1, failure } })
      expect(verdict).toMatchObject({ status: "failed", failure: { class: failure, transient: true } })
    },
  )

  test.each(["authentication", "context_overflow"] as const)("a refusal for %s is not", async (failure) => {
    const { verdict } = await scene({ failFirst: { times: 1, failure } })
    expect(verdict).toMatchObject({ status: "failed", failure: { class: failure, transient: false } })
  })

  test("lines of 10 MB before the answer are survived", async () => {
    const { verdict, events } = await scene({ flood: { lines: 3, bytes: 10 * 1024 * 1024 } })
    expect(verdict).toMatchObject({ status: "succeeded", report: "Pretend answer.", skippedLines: 0 })
    expect(events.filter((event) => event.type === "other")).toHaveLength(3)
  })

  test("a line of 20 MB is skipped, the answer is not", async () => {
    const { verdict } = await scene({ flood: { lines: 1, bytes: 20 * 1024 * 1024 } })
    expect(verdict).toMatchObject({ status: "succeeded", report: "Pretend answer.", skippedLines: 1 })
  })

  test("noise between the lines is counted", async () => {
    const { verdict } = await scene({ noise: ["Warning: something", "{half"] })
    expect(verdict).toMatchObject({ status: "succeeded", skippedLines: 2 })
  })

  test.each(["unread", "closed"] as const)("a prompt that is %s does not stop the answer", async (stdin) => {
    const { verdict } = await scene({ stdin }, { prompt: "x".repeat(1_000_000) })
    expect(verdict.status).toBe("succeeded")
  })

  test("death by signal within the answer is a crash", async () => {
    expect((await scene({ dieBy: "SIGKILL" })).verdict).toMatchObject({
      status: "failed",
      failure: { class: "crashed" },
    })
  })

  test("one that hangs is cancelled by SIGTERM and keeps the session it showed", async () => {
    const { verdict } = await scene(
      { hang: "within" },
      {},
      { ...killAt("session", "SIGTERM"), stopped: "cancelled" },
    )
    expect(verdict.status).toBe("cancelled")
    expect(verdict.harnessSessionId).toBeDefined()
  })

  test("one that ignores SIGTERM is ended by SIGKILL and is still cancelled", async () => {
    const options: Partial<RunPlanOptions> = {
      stopped: "cancelled",
      onEvent: (event, kill) => {
        if (event.type !== "session") return
        kill("SIGTERM")
        kill("SIGKILL")
      },
    }
    const { verdict, signal } = await scene({ hang: "within", ignoreSignals: ["SIGTERM"] }, {}, options)
    expect([signal, verdict.status]).toEqual(["SIGKILL", "cancelled"])
  })

  test("exit code 0 without a word is no success", async () => {
    const empty = join(root, "empty")
    writeFileSync(`${empty}.jsonl`, "")
    expect((await scene({ replay: empty })).verdict).toMatchObject({ failure: { class: "no_output" } })
  })

  test("an interactive one leaves its session where it can be found", async () => {
    const startedAtMs = Date.now()
    const cwd = mkdtempSync(join(root, `${name}-home-`))
    const pretend = installPretendHarness(join(cwd, "bin"), { as: name })
    const harness = await HARNESSES.find(({ id }) => id === name)?.load()
    if (harness === undefined) throw new Error(name)
    const home = { ...environment, HOME: cwd, CODEX_HOME: join(cwd, ".codex") }
    const request: LaunchRequest = {
      mode: "interactive",
      cwd,
      environment: home,
      binary: pretend.path,
      scratch: join(cwd, "scratch"),
      session: { kind: "new" },
    }
    await runPlan({ harness, request })
    const [call] = pretend.calls()
    const search = { cwd, environment: home, startedAtMs, binary: pretend.path }
    expect(await harness.findSession(search)).toBe(call?.session)
    expect(await harness.findSession({ ...search, taken: [call?.session ?? ""] })).toBeUndefined()
    expect(await harness.findSession({ ...search, startedAtMs: Date.now() + 60_000 })).toBeUndefined()
    expect(await harness.findSession({ ...search, cwd: root })).toBeUndefined()
  })

  test("writes its files and its own report where it is told", async () => {
    const reportPath = join(root, `${name}-report.md`)
    const { pretend } = await scene(
      { writes: { "made.txt": "made" }, report: "my report" },
      { environment: { ...environment, MERIDIAN_REPORT_PATH: reportPath } },
    )
    expect(readFileSync(reportPath, "utf8")).toBe("my report")
    expect(readFileSync(join(pretend.calls()[0]?.cwd ?? "", "made.txt"), "utf8")).toBe("made")
  })
})
