import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness, type PretendBehaviour, type PretendName } from "@meridian/testkit"
import { expect, test } from "vitest"

import { verifies } from "../verifies.ts"
import { BINARY, document, emptyFolder, meridian, SEARCH_PATH, type Ran } from "./cli-binary.ts"

const scene = (behaviour: PretendBehaviour = { answer: "All done." }) => {
  const cwd = emptyFolder()
  const bin = join(emptyFolder(), "bin")
  const env = { PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`, HOME: emptyFolder() }
  const install = (as: PretendName) => installPretendHarness(bin, { as, behaviour })
  const [claude, codex, opencode] = [install("claude"), install("codex"), install("opencode")]
  const run = (...args: readonly string[]): Promise<Ran> => meridian(args, { cwd, env })
  const agent = (...args: readonly string[]): Promise<Ran> =>
    meridian(args, { cwd, env: { ...env, MERIDIAN_SPACE_ID: "s1" } })
  return { cwd, bin, env, claude, codex, opencode, run, agent }
}

test("spawn prints the report on stdout and facts about the run on stderr, in both modes", async () => {
  const { run, agent, claude } = scene()
  const first = await run("run", "spawn", "-p", "do it")
  expect([first.stdout, first.code]).toEqual(["All done.\n", 0])
  expect(first.stderr).toMatch(
    /^WARNING \[SPACE_AUTO_CREATED\]: No MERIDIAN_SPACE_ID set\. Created space s1\. Next: set MERIDIAN_SPACE_ID=s1 for subsequent commands\.\n/,
  )
  expect(first.stderr).toMatch(
    /run_id=r1 model=default harness=claude status=succeeded duration=[\d.]+s exit_code=0\n$/,
  )
  const second = await agent("run", "-p", "again")
  expect([second.stdout, second.code]).toEqual(["All done.\n", 0])
  expect(second.stderr).not.toContain("SPACE_AUTO_CREATED")
  expect(claude.calls().map(({ stdin }) => stdin?.split("\n").at(-1))).toEqual(["do it", "again"])
})

test("-p - reads a prompt from stdin that no argument could carry", async () => {
  const { cwd, env, claude } = scene()
  const input = `${"word ".repeat(60_000)}last`
  const ran = await meridian(["run", "spawn", "-p", "-"], { cwd, env, input })
  expect([ran.code, claude.calls()[0]?.stdin?.endsWith(input)]).toEqual([0, true])
  expect((await meridian(["run", "spawn", "-p", "-"], { cwd, env })).stderr).toMatch(
    /^ERROR \[PROMPT_REQUIRED\]/,
  )
})

test("JSON of a run is one sparse document with the report and without the prompt", async () => {
  const { run, cwd } = scene()
  const ran = await run("run", "spawn", "-p", "a secret prompt", "--format", "json")
  const found = document(ran)
  expect(found).toMatchObject({
    run_id: "r1",
    space_id: "s1",
    status: "succeeded",
    exit_code: 0,
    report: "All done.",
    report_path: join(cwd, ".meridian/.spaces/s1/runs/r1/report.md"),
  })
  expect(ran.stdout).not.toContain("secret")
  expect(ran.stdout).not.toContain("null")
})

test("--config decides for the run and reaches everything it starts", async () => {
  const { run, cwd, codex } = scene()
  writeFileSync(join(cwd, "mine.toml"), '[harness]\ndefault = "codex"\n')
  expect((await run("--config", "mine.toml", "run", "spawn", "--background", "-p", "x")).stdout).toBe("r1\n")
  expect((await run("run", "wait", "r1", "--space", "s1")).code).toBe(0)
  expect(codex.calls().map(({ env }) => env["MERIDIAN_CONFIG"])).toEqual([join(cwd, "mine.toml")])
})

test("a dry run shows the command and writes nothing, not even a space", async () => {
  const { run, cwd, claude } = scene()
  const text = await run("run", "spawn", "-p", "hello", "-m", "opus", "--dry-run")
  expect(text.code).toBe(0)
  expect(text.stdout).toContain("claude -p")
  expect(text.stdout).toContain("hello")
  expect(document(await run("run", "spawn", "-p", "hello", "--dry-run", "--json"))).toMatchObject({
    harness: "claude",
  })
  expect([readdirSync(cwd), claude.calls()]).toEqual([[], []])
})

test("start answers an agent with one JSON document, dry or not", async () => {
  const { run, agent } = scene()
  await run("run", "spawn", "-p", "x")
  expect(document(await agent("start", "--dry-run"))).toMatchObject({ harness: "claude", dry_run: true })
  expect((await run("start", "--dry-run")).stdout).toMatch(/^claude /)
  const quoted = await run("start", "--dry-run", "--", "--append-system-prompt", "two words")
  expect(quoted.stdout).toContain(" 'two words'")
  const [last] = (await agent("start")).stdout.trimEnd().split("\n").slice(-1)
  expect(JSON.parse(last ?? "")).toMatchObject({ space_id: "s1", exit_code: 0 })
})

test("background prints only the id; wait, list, show and stats show the rest", async () => {
  const { run, agent } = scene()
  await run("run", "spawn", "-p", "one")
  const started = await agent("run", "spawn", "--background", "-p", "two")
  expect([started.stdout, started.code]).toEqual(["r2\n", 0])
  const waited = await agent("run", "wait", "r2", "--report")
  expect(document(waited)).toMatchObject({
    run_id: "r2",
    status: "succeeded",
    any_failed: false,
    runs: [{ report: "All done." }],
  })
  expect(document(await agent("run", "list"))).toMatchObject({ runs: [{ run_id: "r2" }, { run_id: "r1" }] })
  expect((await run("run", "list", "--space", "s1")).stdout).toMatch(
    /^r2 {2}succeeded .*\nr1 {2}succeeded .*\n$/,
  )
  expect(document(await agent("run", "show", "@latest"))).toMatchObject({ run_id: "r2", status: "succeeded" })
  expect(document(await agent("run", "stats"))).toMatchObject({ total_runs: 2, succeeded: 2, failed: 0 })
})

test("a model chooses its harness, and an agent its model, skills and text", async () => {
  const { run, cwd, codex, opencode } = scene()
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  write(".agents/agents/coder.md", "---\nmodel: codex\nskills: [plan]\n---\nYou code.")
  write(".meridian/skills/plan/SKILL.md", "---\nname: plan\n---\nPlan first.")
  write("notes.md", "Remember {{WHO}}.")
  const ran = await run(
    "run",
    "spawn",
    "-a",
    "coder",
    "-f",
    "notes.md",
    "--var",
    "WHO=Ada",
    "-p",
    "Ask {{WHO}}",
  )
  expect([ran.code, ran.stdout]).toEqual([0, "All done.\n"])
  const prompt = codex.calls()[0]?.stdin ?? ""
  const places = [
    "# Skill: plan\n\nPlan first.",
    "# Agent Profile\n\nYou code.",
    `# Reference: ${cwd}/notes.md\n\nRemember Ada.`,
    "# Report\n",
    "Ask Ada",
  ].map((part) => prompt.indexOf(part))
  expect([places.includes(-1), places]).toEqual([false, places.toSorted((left, right) => left - right)])
  await run("run", "spawn", "-m", "zai/glm-5", "-p", "x")
  expect(opencode.calls()[0]?.argv.join(" ")).toContain("--model zai/glm-5")
})

test("continue resumes the harness's own session, even without an id from inside a chat", async () => {
  const { run, cwd, env, claude } = scene()
  await run("run", "spawn", "-p", "one")
  const again = await run("run", "continue", "r1", "-p", "two", "--space", "s1")
  expect([again.stdout, again.code]).toEqual(["All done.\n", 0])
  const [first, second] = claude.calls()
  expect(second?.argv.join(" ")).toContain(`--resume ${first?.session}`)
  const inside = { ...env, MERIDIAN_SPACE_ID: "s1", MERIDIAN_CHAT_ID: "c9" }
  await meridian(["run", "spawn", "-p", "three"], { cwd, env: inside })
  await meridian(["run", "continue", "-p", "four"], { cwd, env: inside })
  const [, , third, fourth] = claude.calls()
  expect(fourth?.argv.join(" ")).toContain(`--resume ${third?.session}`)
})

test.each([
  [{ answer: "no", exitCode: 5 }, [], 1, "failed"],
  [{ hang: "within" as const }, ["--timeout", "0.5"], 3, "failed"],
])("a run that ends badly (%j) says so with its exit code", async (behaviour, flags, code, status) => {
  const { run } = scene(behaviour)
  const ran = await run("run", "spawn", "-p", "x", "--json", ...flags)
  expect(ran.code).toBe(code)
  expect(document(ran)).toMatchObject({ status, exit_code: code })
})

test("a harness that is not installed is exit code 2, for runs and for conversations", async () => {
  const { cwd, env } = scene()
  const bare = { ...env, PATH: dirname(process.execPath) }
  for (const args of [
    ["run", "spawn", "-p", "x", "-m", "codex"],
    ["start", "-m", "codex"],
  ]) {
    const ran = await meridian([...args, "--json"], { cwd, env: bare })
    expect(ran.code).toBe(2)
    expect(document(ran)).toMatchObject({ error: { code: "HARNESS_NOT_INSTALLED" }, exit_code: 2 })
  }
})

test.each([
  [["run", "spawn", "-p", ""], 2, "PROMPT_REQUIRED"],
  [["run", "spawn", "-p", "x", "-m", "opuss"], 1, "MODEL_UNKNOWN"],
  [["run", "spawn", "-p", "x", "-a", "ghost"], 1, "AGENT_NOT_FOUND"],
  [["run", "spawn", "-p", "x", "-s", "ghost"], 1, "SKILL_NOT_FOUND"],
  [["run", "spawn", "-p", "x", "-f", "none.md"], 1, "REFERENCE_NOT_FOUND"],
  [["run", "spawn", "-p", "x", "--var", "novalue"], 2, "VARIABLE_INVALID"],
  [["run", "spawn", "--var", "B=1", "-p", "{{A}}"], 1, "VARIABLE_UNDEFINED"],
  [["run", "spawn", "-p", "x", "--permission", "root"], 2, "USAGE"],
  [["run", "spawn", "-p", "x", "--timeout", "0"], 2, "USAGE"],
  [["run", "spawn", "-p", "x", "--space", "s9"], 1, "SPACE_NOT_FOUND"],
  [["run", "list"], 1, "SPACE_REQUIRED"],
  [["run", "continue", "-p", "x"], 1, "SPACE_REQUIRED"],
  [["run", "wait", "r1"], 1, "SPACE_REQUIRED"],
  [["run", "list", "--space", "../.."], 1, "SPACE_NOT_FOUND"],
  [["run", "list", "--status", "done"], 2, "USAGE"],
  [["start", "--new", "--space", "s1"], 2, "USAGE"],
  [["start", "--bogus"], 2, "USAGE"],
  [["space", "show", "s9"], 1, "SPACE_NOT_FOUND"],
])("%j is refused with exit code %i and %s, and leaves nothing behind", async (args, code, name) => {
  const { run, cwd } = scene()
  const ran = await run(...args, "--json")
  expect(document(ran)).toMatchObject({
    error: { code: name, message: expect.any(String), next: expect.any(String) },
    exit_code: code,
  })
  expect([ran.code, readdirSync(cwd)]).toEqual([code, []])
})

test("wait that takes too long is exit code 124, and cancel ends the run as cancelled", async () => {
  const { run, agent } = scene({ hang: "within" })
  await run("run", "spawn", "-p", "x", "--background")
  const late = await agent("run", "wait", "r1", "--timeout", "0.3")
  expect([late.code, document(late)]).toMatchObject([
    124,
    { error: { code: expect.any(String) }, exit_code: 124 },
  ])
  const cancelled = await agent("run", "cancel", "r1")
  expect([cancelled.code, document(cancelled)]).toMatchObject([0, { run_id: "r1", status: "cancelled" }])
  expect(document(await agent("run", "show", "r1"))).toMatchObject({ status: "cancelled" })
})

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s to a foreground run ends it as cancelled with exit code %i", async (signal, code) => {
  const { cwd, env, agent } = scene({ hang: "within" })
  const child = spawn(process.execPath, [BINARY, "run", "spawn", "-p", "x", "--json"], {
    cwd,
    env: { ...env, MERIDIAN_REPO_ROOT: cwd },
  })
  let stdout = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
  const events = join(cwd, ".meridian/.spaces/s1/runs/r1/events.jsonl")
  const shown = (): boolean => existsSync(events) && readFileSync(events, "utf8").includes('"session"')
  for (let look = 0; look < 600 && !shown(); look += 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  child.kill(signal)
  expect(await ended).toBe(code)
  expect(JSON.parse(stdout)).toMatchObject({ status: "cancelled", exit_code: code })
  expect(document(await agent("run", "show", "r1"))).toMatchObject({ status: "cancelled" })
})

test("start passes the harness's exit code on, says how to continue, and continues", async () => {
  const { run, claude } = scene({ exitCode: 7 })
  const first = await run(
    "start",
    "--name",
    "feature",
    "--append-system-prompt",
    "be kind",
    "--",
    "--verbose",
  )
  expect([first.code, first.stdout]).toEqual([
    7,
    "Continue this chat with: meridian start --space s1 --continue c1\n",
  ])
  const second = await run("start", "--continue")
  expect(second.stdout).toContain("--continue c1")
  const [launched, continued] = claude.calls()
  expect(launched?.argv.join(" ")).toContain("be kind")
  expect(continued?.argv.join(" ")).toContain(`--resume ${launched?.session}`)
  expect(continued?.argv).toContain("--verbose")
  const third = await run("start")
  expect(third.stderr).toBe(
    'WARNING [SPACE_AUTO_RESUMED]: Resumed active space s1 ("feature"). Next: use --new to start a fresh space.\n',
  )
})

test("a Claude chat left before its first message starts over under its id, and a kept one is resumed", async () => {
  const { cwd, env, run, claude } = scene()
  const kept = join(env.HOME, ".claude/projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"))
  mkdirSync(kept, { recursive: true })
  await run("start")
  const id = claude.calls()[0]?.session
  // The pretend harness keeps it at once; the real one with the first message.
  const file = join(kept, `${id}.jsonl`)
  rmSync(file, { force: true })
  await run("start", "--continue", "c1")
  writeFileSync(file, "{}\n")
  await run("start", "--continue", "c1")
  const chosen = (argv: readonly string[]) => {
    const at = argv.findIndex((word) => word === "--session-id" || word === "--resume")
    return argv.slice(at, at + 2)
  }
  expect(claude.calls().map(({ argv }) => chosen(argv))).toEqual([
    ["--session-id", id],
    ["--session-id", id],
    ["--resume", id],
  ])
})

test("a chat whose space was closed prints no command that would fail", async () => {
  const { cwd, env, run, claude } = scene({ hang: "within" })
  const child = spawn(process.execPath, [BINARY, "start"], {
    cwd,
    env: { ...env, MERIDIAN_REPO_ROOT: cwd },
    stdio: ["ignore", "pipe", "ignore"],
  })
  let stdout = ""
  child.stdout.on("data", (data) => (stdout += String(data)))
  const ended = new Promise((resolve) => child.on("close", resolve))
  for (let look = 0; look < 600 && claude.calls().length === 0; look += 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect((await run("space", "close", "s1")).code).toBe(0)
  await ended
  expect(stdout).not.toContain("Continue this chat with")
})

test("a flag of another harness is warned about and left out; a model of another harness cannot continue", async () => {
  const { run, codex } = scene()
  const ran = await run("start", "-m", "codex", "--append-system-prompt", "x")
  expect(ran.stderr).toContain(
    "WARNING [UNSUPPORTED_FLAG]: --append-system-prompt is not supported by Codex. Next: remove this flag or switch to a harness that supports it. Flag ignored.\n",
  )
  expect(codex.calls()[0]?.argv.join(" ")).not.toContain("append-system-prompt")
  const mismatch = await run("start", "--continue", "c1", "-m", "opus")
  expect([mismatch.code, mismatch.stderr]).toEqual([
    1,
    "ERROR [HARNESS_MISMATCH]: Session c1 was started with Codex. Cannot continue with a Claude model. Next: pick a model on Codex or omit -m.\n",
  ])
})

const isAlive = (pid: number | undefined): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))

test.each([
  ["run", "spawn", "-m", "codex", "-p", "x"],
  ["skills", "list"],
  ["models", "list"],
  ["run", "show", "r2"],
])(
  "a run whose worker and harness were killed is ended by an agent's next command: %s %s",
  async (...words) => {
    const { cwd, bin, agent, run, claude } = scene({ hang: "within" })
    installPretendHarness(bin, { as: "codex", behaviour: { answer: "done" } })
    expect((await run("run", "spawn", "--background", "-m", "opus", "-p", "x")).stdout).toBe("r1\n")
    await agent("run", "spawn", "-m", "codex", "-p", "x")
    for (let look = 0; look < 600 && claude.calls().length === 0; look += 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
    const log = (): string => readFileSync(join(cwd, ".meridian/.spaces/s1/runs.jsonl"), "utf8")
    process.kill(Number(/"worker_pid":(\d+)/.exec(log())?.[1]), "SIGKILL")
    await agent(...words)
    // Its harness still works, so the run does too.
    expect([log().includes("orphan_run"), isAlive(claude.calls()[0]?.pid)]).toEqual([false, true])
    process.kill(claude.calls()[0]?.pid ?? 0, "SIGKILL")
    while (isAlive(claude.calls()[0]?.pid)) await new Promise((resolve) => setTimeout(resolve, 20))
    await agent(...words)
    expect(log()).toContain('"error":"orphan_run"')
  },
)

test("a chat whose process was killed is stopped by the next command of a person, and not by an agent's", async () => {
  const { cwd, env, run, agent, claude } = scene({ hang: "within" })
  const child = spawn(process.execPath, [BINARY, "start"], { cwd, env: { ...env, MERIDIAN_REPO_ROOT: cwd } })
  const ended = new Promise((resolve) => child.on("close", resolve))
  for (let look = 0; look < 600 && claude.calls().length === 0; look += 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  child.kill("SIGKILL")
  const [call] = claude.calls()
  if (call !== undefined) process.kill(call.pid, "SIGKILL")
  await ended
  const log = (): string => readFileSync(join(cwd, ".meridian/.spaces/s1/sessions.jsonl"), "utf8")
  await agent("models", "list")
  await agent("run", "list")
  expect(log()).not.toContain('"event":"stop"')
  await run("space", "list")
  expect(log()).toContain('"event":"stop"')
})

verifies("run.notify", async () => {
  const { cwd, env, run } = scene()
  const told = join(emptyFolder(), "told")
  const program = join(emptyFolder(), "tell")
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s|%s|%s\\n' "$1" "$2" "$MERIDIAN_NOTIFY_STATUS" >> ${JSON.stringify(told)}\n`,
    { mode: 0o755 },
  )
  mkdirSync(join(env.HOME, ".config/meridian"), { recursive: true })
  writeFileSync(
    join(env.HOME, ".config/meridian/config.toml"),
    `[notify]\ncommand = [${JSON.stringify(program)}, "Meridian"]\n`,
  )
  expect((await run("run", "spawn", "-p", "mend the tests")).code).toBe(0)
  expect((await run("run", "spawn", "--background", "-p", "and more", "--space", "s1")).code).toBe(0)
  expect((await run("run", "wait", "r2", "--space", "s1")).code).toBe(0)
  const lines = (): string => (existsSync(told) ? readFileSync(told, "utf8") : "")
  for (let look = 0; look < 200 && lines().split("\n").length < 3; look += 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(lines()).toBe(
    "Meridian|Run r1 succeeded: mend the tests|succeeded\nMeridian|Run r2 succeeded: and more|succeeded\n",
  )
  mkdirSync(join(cwd, ".meridian"), { recursive: true })
  writeFileSync(join(cwd, ".meridian/config.toml"), '[notify]\ncommand = ["touch", "from-the-project"]\n')
  expect((await run("run", "spawn", "-p", "third", "--space", "s1")).code).toBe(0)
  expect(existsSync(join(cwd, "Run r3 succeeded: third"))).toBe(false)
})
