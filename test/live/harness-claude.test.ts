/** The real Claude Code, offline, through Meridian's plans and parser. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"

import { harnessSessionId } from "@meridian/protocol"
import { flagOf } from "@meridian/spaces"
import { afterAll, beforeAll, expect, test } from "vitest"

import { type LiveScene, liveScene } from "./harness-scene.ts"

let scene: LiveScene
beforeAll(async () => {
  scene = await liveScene("claude")
})
afterAll(() => scene.close())

const FIRST = "0f0e0d0c-1111-4222-8333-444455556666"
const USAGE = { input: 1200, output: 7, cacheRead: 300 }

test("a headless run answers, in the session we chose", async () => {
  const run = await scene.run([{ text: "Hello from the script.", usage: USAGE }], {
    session: { kind: "new", chosen: FIRST },
    prompt: "Say 'hello' and \"nothing\" else.\nPlease.",
    instructions: "RULE-ONE: always be brief.",
  })
  expect(run.verdict).toMatchObject({
    status: "succeeded",
    harnessSessionId: FIRST,
    report: "Hello from the script.",
    usage: { inputTokens: 1200, cachedInputTokens: 300, outputTokens: 7 },
    skippedLines: 0,
  })
  expect(run.asked).toHaveLength(1)
  expect(run.asked[0]).toContain(JSON.stringify("Say 'hello' and \"nothing\" else.\nPlease.").slice(1, -1))
  expect(run.asked[0]).toContain("RULE-ONE")
})

test("a continuation is the same session, with its history and its instructions, and counts only itself", async () => {
  const run = await scene.run([{ text: "Again.", usage: USAGE }], {
    session: { kind: "continue", id: harnessSessionId(FIRST) },
    prompt: "And now again.",
    instructions: "RULE-ONE: always be brief.",
  })
  expect(run.verdict).toMatchObject({
    status: "succeeded",
    harnessSessionId: FIRST,
    report: "Again.",
    usage: { inputTokens: 1200, cachedInputTokens: 300, outputTokens: 7 },
  })
  expect(run.asked[0]).toContain("Hello from the script.")
  expect(run.asked[0]).toContain("And now again.")
  expect(run.asked[0]).toContain("RULE-ONE")
})

test("instructions that changed reach a continued session", async () => {
  const run = await scene.run([{ text: "Yes." }], {
    session: { kind: "continue", id: harnessSessionId(FIRST) },
    prompt: "Which rule?",
    instructions: "RULE-TWO: be polite.",
    instructionsChanged: true,
  })
  expect(run.asked[0]).toContain("RULE-TWO")
})

test("a fork has the history and the id we chose for it", async () => {
  const chosen = "aaaaaaaa-1111-4222-8333-444455556666"
  const run = await scene.run([{ text: "Forked." }], {
    session: { kind: "fork", id: harnessSessionId(FIRST), chosen },
    prompt: "Go another way.",
  })
  expect(run.verdict).toMatchObject({ status: "succeeded", harnessSessionId: chosen, report: "Forked." })
  expect(run.asked[0]).toContain("Hello from the script.")
})

test("an agent is passed natively: its body is the system prompt", async () => {
  const run = await scene.run([{ text: "Reviewed." }], {
    agent: {
      name: "reviewer",
      description: "Reviews code",
      body: "AGENT-BODY: you review.",
      tools: ["Read"],
    },
  })
  expect(run.verdict.status).toBe("succeeded")
  expect(run.asked[0]).toContain("AGENT-BODY")
})

test("an agent and instructions too long for an argument arrive whole", async () => {
  const run = await scene.run([{ text: "Read." }], {
    agent: { name: "long", description: "Long", body: `AGENT-LONG ${"b ".repeat(70_000)}` },
    instructions: `RULES-LONG ${"r ".repeat(70_000)}`,
  })
  expect(run.verdict.status).toBe("succeeded")
  expect(run.asked[0]).toContain("AGENT-LONG")
  expect(run.asked[0]).toContain("RULES-LONG")
})

const writing = (
  path: string,
): readonly [
  { tools: [{ name: string; input: { file_path: string; content: string } }] },
  { text: string },
] => [{ tools: [{ name: "Write", input: { file_path: path, content: "made\n" } }] }, { text: "Done." }]

test.each([
  ["read-only", false],
  ["workspace-write", true],
  ["full-access", true],
  ["danger", true],
] as const)("%s: a file is written: %s", async (permission, written) => {
  const path = join(scene.project, `${permission}.txt`)
  const run = await scene.run(writing(path), { permission })
  expect(run.verdict).toMatchObject({ status: "succeeded", report: "Done." })
  expect(existsSync(path)).toBe(written)
  expect(run.events.filter((event) => event.type === "file")).toEqual(
    written ? [{ type: "file", path, change: "written" }] : [],
  )
})

test.each([
  ["workspace-write", false],
  ["full-access", true],
] as const)("%s: an arbitrary command runs: %s", async (permission, ran) => {
  const path = join(scene.project, `ran-${permission}.txt`)
  const input = { command: `node -e "require('fs').writeFileSync('${path}','')"`, description: "run" }
  await scene.run([{ tools: [{ name: "Bash", input }] }, { text: "Done." }], { permission })
  expect(existsSync(path)).toBe(ran)
})

test.each([
  ["auth", "authentication", false],
  ["rate-limit", "rate_limit", true],
  ["overloaded", "overload", true],
  ["server", "server_error", true],
  ["context-overflow", "context_overflow", false],
] as const)("a provider that fails with %s is %s", async (error, failure, transient) => {
  const run = await scene.run([{ error, repeat: true }])
  expect(run.verdict).toMatchObject({ status: "failed", failure: { class: failure, transient } })
})

test("a provider that is not there is a failed connection", async () => {
  const run = await scene.run([], {
    environment: { ...scene.environment, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
  })
  expect(run.verdict).toMatchObject({ status: "failed", failure: { class: "connection", transient: true } })
})

test("a session that does not exist is told as such", async () => {
  const id = harnessSessionId("99999999-2222-4333-8444-555555555555")
  const run = await scene.run([], { session: { kind: "continue", id } })
  expect(run.verdict).toMatchObject({ status: "failed", failure: { class: "session_not_found" } })
})

test("SIGTERM within an answer is a cancelled run that keeps its session", async () => {
  const run = await scene.run(
    [{ text: "never", hold: true }],
    { session: { kind: "new", chosen: "bbbbbbbb-1111-4222-8333-444455556666" } },
    {
      stopped: "cancelled",
      onEvent: (event, kill) => {
        if (event.type === "session") kill("SIGTERM")
      },
    },
  )
  expect(run.verdict).toMatchObject({
    status: "cancelled",
    harnessSessionId: "bbbbbbbb-1111-4222-8333-444455556666",
  })
})

test("every flag of --help is in our table", () => {
  const help = execFileSync(scene.binary, ["--help"], { encoding: "utf8", env: { HOME: scene.project } })
  const flags = help
    .split("\n")
    .flatMap((line) => (/^ {2}-/.test(line) ? (line.match(/(?<=^ {2}|, )--?[\w-]+/g) ?? []) : []))
  expect(flags.length).toBeGreaterThan(40)
  expect(
    flags.filter((flag) => !/^(-h|--help|-v|--version)$/.test(flag) && flagOf("claude", flag) === undefined),
  ).toEqual([])
})
