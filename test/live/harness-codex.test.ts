/** The real Codex, offline, through Meridian's plans and parser. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"

import { type HarnessSessionId, harnessSessionId } from "@meridian/protocol"
import { flagOf, type Usage } from "@meridian/spaces"
import { afterAll, beforeAll, expect, test } from "vitest"

import { type LiveScene, liveScene } from "./harness-scene.ts"

let scene: LiveScene
let first: HarnessSessionId
const USAGE = { input: 1200, output: 7, cacheRead: 300 }
const ONE_RUN = { inputTokens: 1200, cachedInputTokens: 300, outputTokens: 7 }

beforeAll(async () => {
  scene = await liveScene("codex")
})
afterAll(() => scene.close())

const before = (id: HarnessSessionId): Promise<Usage | undefined> =>
  scene.harness.usageBefore({ id, environment: scene.environment })

test("a headless run answers and shows its session in the first line", async () => {
  const run = await scene.run([{ text: "Hello from the script.", usage: USAGE }], {
    prompt: "Say 'hello' and \"nothing\" else.\nPlease.",
    instructions: "RULE-ONE: always be brief.",
  })
  expect(run.verdict).toMatchObject({
    status: "succeeded",
    report: "Hello from the script.",
    usage: ONE_RUN,
    sessionUsage: ONE_RUN,
    skippedLines: 0,
  })
  expect(run.events[0]?.type).toBe("session")
  expect(run.asked[0]).toContain(JSON.stringify("Say 'hello' and \"nothing\" else.\nPlease.").slice(1, -1))
  expect(run.asked[0]).toContain("RULE-ONE")
  first = harnessSessionId(run.verdict.harnessSessionId ?? "")
})

test("its rollout tells the tokens of the thread so far", async () => {
  expect(await before(first)).toEqual(ONE_RUN)
})

test("a continuation is the same session with its history, and counts only itself", async () => {
  const usageBefore = await before(first)
  const run = await scene.run(
    [{ text: "Again.", usage: USAGE }],
    {
      session: { kind: "continue", id: first },
      prompt: "And now again.",
      instructions: "RULE-ONE: always be brief.",
    },
    { parserOptions: { continued: true, ...(usageBefore === undefined ? {} : { usageBefore }) } },
  )
  expect(run.verdict).toMatchObject({
    status: "succeeded",
    harnessSessionId: first,
    report: "Again.",
    usage: ONE_RUN,
    sessionUsage: { inputTokens: 2400, cachedInputTokens: 600, outputTokens: 14 },
  })
  expect(run.asked[0]).toContain("Hello from the script.")
  expect(run.asked[0]).toContain("And now again.")
  expect(run.asked[0]?.split("RULE-ONE")).toHaveLength(2)
})

test("a fork has the history, another session, and counts only itself", async () => {
  const usageBefore = await before(first)
  const run = await scene.run(
    [{ text: "Forked.", usage: USAGE }],
    { session: { kind: "fork", id: first }, prompt: "Go another way." },
    { parserOptions: { continued: true, ...(usageBefore === undefined ? {} : { usageBefore }) } },
  )
  expect(run.verdict).toMatchObject({ status: "succeeded", report: "Forked.", usage: ONE_RUN })
  expect(run.verdict.harnessSessionId).not.toBe(first)
  expect(run.asked[0]).toContain("Hello from the script.")
})

test("threads of headless runs are not taken for a person's session", async () => {
  const search = { cwd: scene.project, environment: scene.environment, startedAtMs: 0 }
  expect(await scene.harness.findSession(search)).toBeUndefined()
})

test.each([
  ["read-only", false, false],
  ["workspace-write", true, false],
  ["full-access", true, true],
  ["danger", true, true],
] as const)("%s: writes inside the project: %s, outside: %s", async (permission, inside, outside) => {
  const near = join(scene.project, `${permission}.txt`)
  const far = join(scene.project, "..", `${permission}-outside.txt`)
  const cmd = `echo near > ${near}; echo far > ${far}`
  const run = await scene.run([{ tools: [{ name: "exec_command", input: { cmd } }] }, { text: "Done." }], {
    permission,
    // The scene is in the folder for temporary files, which the sandbox would leave writable.
    params: [
      "-c",
      "sandbox_workspace_write.exclude_slash_tmp=true",
      "-c",
      "sandbox_workspace_write.exclude_tmpdir_env_var=true",
    ],
  })
  expect(run.verdict).toMatchObject({ status: "succeeded", report: "Done." })
  expect([existsSync(near), existsSync(far)]).toEqual([inside, outside])
})

test.each([
  ["auth", "authentication", false],
  ["rate-limit", "rate_limit", true],
  ["overloaded", "overload", true],
  // Codex reports status 500 as "high demand".
  ["server", "overload", true],
  ["context-overflow", "context_overflow", false],
] as const)("a provider that fails with %s is %s", async (error, failure, transient) => {
  const run = await scene.run([{ error, repeat: true }])
  expect(run.verdict).toMatchObject({ status: "failed", failure: { class: failure, transient } })
})

test("it waits for a provider that is not there, and says so", async () => {
  const run = await scene.run(
    [],
    { params: ["-c", "model_providers.fake.base_url=http://127.0.0.1:9/v1"] },
    {
      onEvent: (event, kill) => {
        if (event.type === "retry") kill("SIGTERM")
      },
    },
  )
  expect(run.events).toContainEqual(expect.objectContaining({ type: "retry", failure: "connection" }))
  expect(run.verdict.status).toBe("cancelled")
})

test("a session that does not exist is told as such", async () => {
  const id = harnessSessionId("01a1de08-0000-7d51-9fa6-7c7289c601be")
  const run = await scene.run([], { session: { kind: "continue", id } })
  expect(run.verdict).toMatchObject({ status: "failed", failure: { class: "session_not_found" } })
})

test("SIGTERM within an answer is a cancelled run that keeps its session", async () => {
  const run = await scene.run(
    [{ text: "never", hold: true }],
    {},
    {
      stopped: "cancelled",
      onEvent: (event, kill) => {
        if (event.type === "session") kill("SIGTERM")
      },
    },
  )
  expect(run.verdict.status).toBe("cancelled")
  expect(run.verdict.harnessSessionId).toBeDefined()
})

test("every flag of --help is in our table", () => {
  const help = [[], ["exec"], ["resume"], ["exec", "resume"], ["exec", "fork"]].map((words) =>
    execFileSync(scene.binary, [...words, "--help"], {
      encoding: "utf8",
      env: { HOME: scene.project, PATH: scene.environment["PATH"] },
      stdio: ["ignore", "pipe", "ignore"],
    }),
  )
  const flags = help
    .join("\n")
    .split("\n")
    .flatMap((line) => /^ {2,6}(?:(-\w), )?(--[\w-]+)/.exec(line)?.slice(1) ?? [])
  const known = flags.filter((flag) => flag !== undefined)
  expect(known.length).toBeGreaterThan(40)
  expect(
    known.filter((flag) => !/^(-h|--help|-V|--version)$/.test(flag) && flagOf("codex", flag) === undefined),
  ).toEqual([])
})
