/**
 * The real OpenCode, offline, through Meridian's plans and parser. Each start costs seconds, so the rest is in
 * harness-meridian.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { type HarnessSessionId, harnessSessionId } from "@meridian/protocol"
import { flagOf } from "@meridian/spaces"
import { afterAll, beforeAll, expect, test } from "vitest"

import { type LiveScene, liveScene } from "./harness-scene.ts"

let scene: LiveScene
let first: HarnessSessionId
let startedAtMs: number
const USAGE = { input: 1200, output: 7, cacheRead: 300 }
const ONE_RUN = { inputTokens: 1200, cachedInputTokens: 300, outputTokens: 7 }

beforeAll(async () => {
  scene = await liveScene("opencode")
  startedAtMs = Date.now()
})
afterAll(() => scene.close())

test("a headless run answers with the prompt sent word for word", async () => {
  const run = await scene.run([{ text: "Hello from the script.", usage: USAGE }], {
    prompt: "Say 'hello' and \"nothing\" else.\nPlease.",
    instructions: "RULE-ONE: always be brief.",
  })
  expect(run.verdict).toMatchObject({
    status: "succeeded",
    report: "Hello from the script.",
    usage: { ...ONE_RUN, costUsd: 0.003795 },
    skippedLines: 0,
  })
  expect(run.asked[0]).toContain(
    JSON.stringify("RULE-ONE: always be brief.\n\nSay 'hello' and \"nothing\" else.\nPlease.").slice(1, -1),
  )
  first = harnessSessionId(run.verdict.harnessSessionId ?? "")
})

test("its session is found in what it stored, and in its own list", async () => {
  const { project: cwd, environment, binary, harness } = scene
  expect(await harness.findSession({ cwd, environment, startedAtMs })).toBe(first)
  const elsewhere = { ...environment, XDG_DATA_HOME: join(cwd, "nothing-here") }
  const found = await harness.findSession({
    cwd,
    environment: elsewhere,
    startedAtMs,
    binary,
    ask: (query) =>
      Promise.resolve(
        execFileSync(query.command, query.args, {
          cwd: query.cwd,
          env: { ...query.environment, XDG_DATA_HOME: undefined },
          encoding: "utf8",
          timeout: query.timeoutMs,
        }),
      ),
  })
  expect(found).toBe(first)
})

test.each([
  ["read-only", false, false],
  ["workspace-write", true, false],
  ["full-access", true, true],
] as const)("%s: writes a file: %s, runs a command: %s", async (permission, writes, runs) => {
  const file = join(scene.project, `${permission}.txt`)
  const ran = join(scene.project, `${permission}-ran.txt`)
  const run = await scene.run(
    [
      {
        tools: [
          { name: "write", input: { filePath: file, content: "made\n" } },
          { name: "bash", input: { command: `touch ${ran}`, description: "touch" } },
        ],
      },
      { text: "Done." },
    ],
    { permission },
  )
  expect(run.verdict).toMatchObject({ status: "succeeded", report: "Done." })
  expect([existsSync(file), existsSync(ran)]).toEqual([writes, runs])
})

test("an interactive launch carries its instructions in the configuration", async () => {
  const plan = scene.harness.launch({
    mode: "interactive",
    cwd: scene.project,
    environment: scene.environment,
    session: { kind: "new" },
    scratch: scene.project,
    instructions: "RULE-THREE: stay calm.",
  })
  // A headless run leaves out the file of a conversation. Under another name, the file is the user's own and is read.
  const [file] = plan.files
  const path = join(scene.project, "standing.md")
  writeFileSync(path, file?.content ?? "")
  const config = plan.environment["OPENCODE_CONFIG_CONTENT"]?.replace(file?.path ?? "", path)
  const run = await scene.run([{ text: "Calm." }], {
    environment: { ...scene.environment, OPENCODE_CONFIG_CONTENT: config },
  })
  expect(run.verdict.status).toBe("succeeded")
  expect(run.asked[0]).toContain("RULE-THREE")
})

test("a session that does not exist is told as such", async () => {
  const run = await scene.run([], { session: { kind: "continue", id: harnessSessionId("ses_doesnotexist") } })
  expect(run.verdict).toMatchObject({ status: "failed", failure: { class: "session_not_found" } })
})

test("every flag of --help is in our table", () => {
  const help = [[], ["run"]].map((words) => {
    const { stdout, stderr } = spawnSync(scene.binary, [...words, "--help"], {
      encoding: "utf8",
      env: { ...scene.environment },
    })
    return stdout + stderr
  })
  const flags = help
    .join("\n")
    .split("\n")
    .flatMap((line) => /^ {2,6}(?:(-\w), )?(--[\w-]+)/.exec(line)?.slice(1) ?? [])
  const known = flags.filter((flag) => flag !== undefined)
  expect(known.length).toBeGreaterThan(20)
  expect(
    known.filter(
      (flag) => !/^(-h|--help|-v|--version)$/.test(flag) && flagOf("opencode", flag) === undefined,
    ),
  ).toEqual([])
})
