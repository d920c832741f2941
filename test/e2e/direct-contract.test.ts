/**
 * The harness contract over runs of the real program. Each run is made when this file loads, against a scripted provider,
 * so no recording can grow old. The expected results are written here.
 */
import { harnessSessionId } from "@meridian/protocol"
import type { LaunchRequest, Verdict } from "@meridian/spaces"
import { harnessContract, type RecordedRun } from "@meridian/testkit/contract/harness"
import { expect, test } from "vitest"

import { directHarness, directScene, judged, type SceneOptions } from "../direct-scene.ts"

const SESSION = "0f0e0d0c-1111-4222-8333-444455556666"
const USAGE = { input: 100, output: 20, cacheRead: 30, reasoning: 5 }

interface Case extends SceneOptions {
  readonly request?: Partial<LaunchRequest>
  readonly expected: Omit<Verdict, "skippedLines" | "harnessSessionId">
}

const failed = (
  failure: NonNullable<Verdict["failure"]>["class"],
  message: RegExp,
  transient = false,
  retryAfterMs?: number,
): Case["expected"] => ({
  status: "failed",
  failure: {
    class: failure,
    message: expect.stringMatching(message),
    transient,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  },
})

const CASES: Readonly<Record<string, Case>> = {
  plain: {
    script: [{ text: "Done.", usage: USAGE }],
    expected: {
      status: "succeeded",
      report: "Done.",
      usage: { inputTokens: 100, cachedInputTokens: 30, outputTokens: 20, costUsd: 0.000609 },
    },
  },
  tools: {
    request: { permission: "workspace-write" },
    script: [
      {
        text: "I look first.",
        reasoning: "Let me think.",
        tools: [
          { name: "read", input: { path: "README.md" } },
          { name: "write", input: { path: "made.txt", content: "made\n" } },
        ],
        usage: USAGE,
      },
      { text: "Written.", usage: USAGE },
    ],
    expected: {
      status: "succeeded",
      report: "Written.",
      usage: { inputTokens: 200, cachedInputTokens: 60, outputTokens: 40, costUsd: 0.001218 },
    },
  },
  refused: {
    request: { permission: "workspace-write" },
    script: [
      { tools: [{ name: "bash", input: { command: "echo hi" } }], usage: USAGE },
      { text: "I may not run commands.", usage: USAGE },
    ],
    expected: {
      status: "succeeded",
      report: "I may not run commands.",
      usage: { inputTokens: 200, cachedInputTokens: 60, outputTokens: 40, costUsd: 0.001218 },
    },
  },
  "wrong key": {
    script: [{ error: "auth", repeat: true }],
    expected: failed("authentication", /./),
  },
  "no credit": {
    script: [{ error: "quota", repeat: true }],
    expected: failed("quota", /./),
  },
  "too many requests": {
    script: [{ error: "rate-limit", repeat: true }],
    expected: failed("rate_limit", /./, true, 1_000),
  },
  overloaded: {
    script: [{ error: "overloaded", repeat: true }],
    expected: failed("overload", /./, true),
  },
  "a server's own failure": {
    script: [
      {
        error: {
          status: 500,
          type: "api_error",
          message: "The server had an error while processing your request",
        },
        repeat: true,
      },
    ],
    expected: failed("server_error", /^The server had an error/, true),
  },
  "a long wait that was told": {
    script: [
      {
        error: {
          status: 429,
          type: "rate_limit_error",
          message: "Too many requests",
          headers: { "retry-after": "3600" },
        },
        repeat: true,
      },
    ],
    expected: failed("rate_limit", /asks to wait 60 minutes/, true, 3_600_000),
  },
  overflow: {
    script: [{ error: "context-overflow", repeat: true }],
    expected: failed("context_overflow", /./),
  },
  "unknown to the provider": {
    script: [{ error: "not-found", repeat: true }],
    expected: failed("model_not_found", /./),
  },
  "unknown model": {
    request: { model: "nobody/nothing" },
    expected: failed(
      "model_not_found",
      /^ERROR \[MODEL_NOT_USABLE\]: Model 'nobody\/nothing' cannot be used: no such provider/,
    ),
  },
  "unknown session": {
    request: { session: { kind: "continue", id: harnessSessionId(SESSION) } },
    expected: failed("session_not_found", /^ERROR \[SESSION_NOT_FOUND\]: Session 0f0e0d0c/),
  },
  "cut at the limit": {
    script: [{ text: "Half an ans", finish: "length", usage: USAGE }],
    expected: {
      ...failed("incomplete", /^The answer was cut at the output limit/),
      report: "Half an ans",
      usage: { inputTokens: 100, cachedInputTokens: 30, outputTokens: 20, costUsd: 0.000609 },
    },
  },
  nowhere: {
    env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9/v1" },
    expected: failed("connection", /./, true),
  },
}

const record = async (name: string, { request, expected, ...scene }: Case): Promise<RecordedRun> => {
  const { launch } = await directScene(scene)
  const { stdout, end } = await launch(request)
  return {
    name,
    stdout,
    end,
    continued: request?.session !== undefined,
    expected: { ...expected, harnessSessionId: harnessSessionId(SESSION), skippedLines: 0 },
  }
}

const runs: RecordedRun[] = []
for (const [name, each] of Object.entries(CASES)) runs.push(await record(name, each))

harnessContract(await directHarness(), runs)

test("a refused call and its reason are among the events, and the model is told", async () => {
  const { launch, asked } = await directScene({
    script: [{ tools: [{ name: "bash", input: { command: "echo hi" } }] }, { text: "Then not." }],
  })
  const { events } = await judged(await launch({ permission: "workspace-write" }))
  const warnings = events.flatMap((event) => (event.type === "warning" ? [event.message] : []))
  expect(warnings).toEqual([
    "Permission was asked: bash on echo hi.",
    expect.stringMatching(/^Permission was refused: Nobody can answer questions in this run\./),
  ])
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool.ended",
      tool: "bash",
      status: "failed",
      output: expect.stringContaining("Nobody can answer"),
    }),
  )
  expect(asked()[1]).toContain("Nobody can answer questions in this run")
})

test("a written file is named, and every call begins and ends", async () => {
  const { launch } = await directScene({ script: CASES["tools"]?.script ?? [] })
  const { events } = await judged(await launch({ permission: "workspace-write" }))
  const told = events.map((event) => (event.type === "turn.ended" ? event.reason : event.type))
  // A call may end before or after the turn is counted: only the events around both have an order.
  expect(told.slice(0, 5)).toEqual(["session", "reasoning", "text", "tool.started", "tool.started"])
  expect(told.slice(5, -3).toSorted()).toEqual(["file", "tool-calls", "tool.ended", "tool.ended", "usage"])
  expect(told.slice(-3)).toEqual(["text", "usage", "stop"])
  expect(events).toContainEqual({ type: "file", path: "made.txt", change: "written" })
})
