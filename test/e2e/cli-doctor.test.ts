import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

import { BINARY, document, emptyFolder, meridian, type Ran } from "./cli-binary.ts"

/** A space as a crash leaves it: a run without a worker, a chat without a process, and the chat's lock file. */
const crashedSpace = (): string => {
  const cwd = emptyFolder()
  const space = join(cwd, ".meridian/.spaces/s1")
  for (const folder of ["runs", "sessions", "fs"]) mkdirSync(join(space, folder), { recursive: true })
  const write = (name: string, value: object): void =>
    writeFileSync(join(space, name), `${JSON.stringify(value)}\n`)
  write("space.json", {
    schema_version: 1,
    id: "s1",
    name: null,
    status: "active",
    started_at: "2026-03-01T00:00:00Z",
    finished_at: null,
  })
  write("runs.jsonl", {
    v: 1,
    event: "start",
    id: "r1",
    model: "m",
    harness: "claude",
    status: "running",
    started_at: "2026-03-01T00:00:00Z",
  })
  write("sessions.jsonl", {
    v: 1,
    event: "start",
    chat_id: "c1",
    harness: "claude",
    harness_session_id: "x",
    model: "m",
    started_at: "2026-03-01T00:00:00Z",
  })
  writeFileSync(join(space, "sessions/c1.lock"), "")
  return cwd
}

test.each([
  ["a person", {}],
  ["an agent", { MERIDIAN_SPACE_ID: "s1" }],
] as const)("doctor tells %s what it repaired, once, and leaves with 0", async (_, env) => {
  const cwd = crashedSpace()
  const first = await meridian(["doctor", "--json"], { cwd, env })
  expect(first.code).toBe(0)
  expect(document(first)).toMatchObject({
    ok: true,
    repaired: ["stale_session_locks", "orphan_runs"],
    warnings: [],
  })
  expect(document(await meridian(["doctor", "--json"], { cwd, env }))).toMatchObject({
    ok: true,
    repaired: [],
  })
  expect(readFileSync(join(cwd, ".meridian/.spaces/s1/runs.jsonl"), "utf8")).toContain('"error":"orphan_run"')
})

test.each([["doctor"], ["space", "close", "s1"]])(
  "%s removes lock files without a holder, even of runs without a row, and counts them",
  async (...words) => {
    const cwd = crashedSpace()
    const lock = join(cwd, ".meridian/.spaces/s1/runs/r9/run.lock")
    mkdirSync(join(lock, ".."), { recursive: true })
    writeFileSync(lock, "")
    const { stdout } = await meridian([...words, "--json"], { cwd })
    expect(stdout).toMatch(/"removed_locks":2|1 chats stopped, 2 lock files removed/)
    expect(existsSync(lock)).toBe(false)
  },
)

test("doctor exits with 1 while something is left that it must not repair", async () => {
  const cwd = crashedSpace()
  writeFileSync(join(cwd, ".meridian/.spaces/s1/space.json"), "{")
  const { code, stdout } = await meridian(["doctor"], { cwd })
  expect(code).toBe(1)
  expect(stdout).toContain(
    "warning: missing_or_corrupt_space_json: s1: space.json: not a JSON object; the space was skipped",
  )
})

/** A program that must not be started: doctor looks but does not run it. */
const program = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\ntouch "${path}.was-started"\nsleep 600\n`, { mode: 0o755 })
}

const installed = () => {
  const cwd = emptyFolder()
  const at = (path: string): string => join(cwd, path)
  program(at("lib/node_modules/@openai/codex/bin/codex.js"))
  writeFileSync(
    at("lib/node_modules/@openai/codex/package.json"),
    '{"name":"@openai/codex","version":"0.166.0","bin":{"codex":"bin/codex.js"}}',
  )
  program(at("share/claude/versions/2.1.325"))
  mkdirSync(at("bin"))
  symlinkSync("../lib/node_modules/@openai/codex/bin/codex.js", at("bin/codex"))
  symlinkSync("../share/claude/versions/2.1.325", at("bin/claude"))
  return { cwd, at, env: { PATH: at("bin") } }
}

const harnessesIn = (ran: Ran): unknown => Reflect.get(Object(document(ran)), "harnesses")

const NO_MODEL =
  "only direct/meridian/echo can be used, which repeats what it is told: anthropic/*: set ANTHROPIC_API_KEY; openai/*: set OPENAI_API_KEY; google/*: set GEMINI_API_KEY; 'meridian models list' shows all."

test("doctor says where every harness is, without starting any, and missing ones fail nothing", async () => {
  const { cwd, at, env } = installed()
  const ran = await meridian(["doctor", "--json"], { cwd, env })
  expect(ran.code).toBe(0)
  expect(document(ran)).toMatchObject({ ok: true, warnings: [] })
  expect(harnessesIn(ran)).toEqual([
    { harness: "claude", found: true, path: at("bin/claude"), version: "2.1.325" },
    { harness: "codex", found: true, path: at("bin/codex"), version: "0.166.0" },
    { harness: "opencode", found: false, problem: "binary 'opencode' not found on PATH" },
    {
      harness: "direct",
      found: true,
      path: BINARY,
      version: "0.1.0",
      usable: false,
      model: "direct/meridian/echo",
      problem: NO_MODEL,
    },
  ])
  const text = await meridian(["doctor"], { cwd, env })
  expect(text.stdout.split("\n").filter((line) => line.startsWith("harness"))).toEqual([
    `harness: claude: 2.1.325 at ${at("bin/claude")}`,
    `harness: codex: 0.166.0 at ${at("bin/codex")}`,
    "harness: opencode: binary 'opencode' not found on PATH",
    `harness: direct: ${NO_MODEL}`,
  ])
  expect(
    [at("lib"), at("share")].some((folder) => readdirSync(folder, { recursive: true }).some(isTrace)),
  ).toBe(false)
})

const isTrace = (name: string | Buffer): boolean => String(name).endsWith(".was-started")

test("doctor finds a harness where the configuration says, and its version only where that is certain", async () => {
  const { cwd, at, env } = installed()
  program(at("tools/opencode"))
  writeFileSync(at("package.json"), '{"name":"mine","version":"9.9.9","bin":{"other":"tools/other"}}')
  mkdirSync(at(".meridian"))
  writeFileSync(
    at(".meridian/config.toml"),
    `[harness]\nopencode = "${at("tools/opencode")}"\ncodex = "./nowhere/codex"\n[direct]\nmodel = "openai/gpt-5"\n`,
  )
  expect((await meridian(["trust"], { cwd, env })).code).toBe(0)
  const ran = await meridian(["doctor", "--json"], { cwd, env: { ...env, ANTHROPIC_API_KEY: "sk-ant-x" } })
  expect(ran.code).toBe(0)
  expect(harnessesIn(ran)).toMatchObject([
    {},
    { harness: "codex", found: false, problem: "binary './nowhere/codex' is not there" },
    { harness: "opencode", found: true, path: at("tools/opencode") },
    {
      harness: "direct",
      usable: false,
      problem: expect.stringContaining("Model 'openai/gpt-5' cannot be used: set OPENAI_API_KEY."),
    },
  ])
  expect(JSON.stringify(harnessesIn(ran))).not.toContain("9.9.9")
})

test("doctor names the model direct would use", async () => {
  const { cwd, env } = installed()
  const ran = await meridian(["doctor", "--json"], { cwd, env: { ...env, ANTHROPIC_API_KEY: "sk-ant-x" } })
  const [direct] = [harnessesIn(ran)].flat().slice(-1)
  expect(direct).toMatchObject({ harness: "direct", usable: true })
  expect(Reflect.get(Object(direct), "model")).toMatch(/^direct\/anthropic\/claude-/)
  expect(direct).not.toHaveProperty("problem")
  const text = await meridian(["doctor"], { cwd, env: { ...env, ANTHROPIC_API_KEY: "sk-ant-x" } })
  expect(text.stdout).toMatch(/^harness: direct: model direct\/anthropic\/claude-/m)
})

test.each([
  ["wrong", (path: string) => writeFileSync(path, "[direct\n")],
  ["a directory", (path: string) => mkdirSync(path)],
])("doctor repairs and tells although config.toml is %s, and says so", async (_, make) => {
  const cwd = crashedSpace()
  make(join(cwd, ".meridian/config.toml"))
  const ran = await meridian(["doctor", "--json"], { cwd })
  expect(ran.code).toBe(1)
  expect(document(ran)).toMatchObject({
    ok: false,
    repaired: ["stale_session_locks", "orphan_runs"],
    warnings: [expect.stringMatching(/^unreadable_configuration: -: .*config\.toml/s)],
  })
  expect(harnessesIn(ran)).toMatchObject([
    { harness: "claude" },
    { harness: "codex" },
    { harness: "opencode" },
    { harness: "direct", usable: false, problem: expect.stringContaining("config.toml") },
  ])
})

test("doctor reports an unreadable models.toml once", async () => {
  const cwd = crashedSpace()
  writeFileSync(join(cwd, ".meridian/models.toml"), "zz")
  const { code, stdout } = await meridian(["doctor"], { cwd })
  expect(code).toBe(1)
  expect(stdout.match(/^warning: unreadable_configuration: -: .*models\.toml.*$/gm)).toHaveLength(1)
})

test("an unreadable space file affects only that space", async () => {
  const cwd = crashedSpace()
  const file = join(cwd, ".meridian/.spaces/s1/space.json")
  rmSync(file)
  // Refused for every user, even for root.
  symlinkSync(file, file)
  const { code, stdout } = await meridian(["doctor"], { cwd })
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining("missing_or_corrupt_space_json: s1: space.json: ELOOP"),
  ])
  expect((await meridian(["space", "list"], { cwd })).stdout).toContain("damaged")
})
