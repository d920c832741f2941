/** Runs of the engine: the same records, report and usage as in other harnesses, and many of them on one database. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

import { harnessSessionId } from "@meridian/protocol"
import { createClient } from "@meridian/server/client"
import { expect, test, vi } from "vitest"

import { directScene, judged, type DirectScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { BINARY, document, meridian } from "./cli-binary.ts"
import { startServer } from "./server-process.ts"

const USAGE = { input: 100, output: 20, cacheRead: 30 }

const DIRECT = ["run", "spawn", "--harness", "direct", "-p"] as const

/** The events of a run, without varying parts. */
const eventsOf = (scene: DirectScene, run: string): readonly string[] =>
  readFileSync(join(scene.project, `.meridian/.spaces/s1/runs/${run}/events.jsonl`), "utf8")
    .trim()
    .split("\n")

verifies("direct.run", async () => {
  const scene = await directScene({
    script: [
      { tools: [{ name: "write", input: { path: "a.txt", content: "a\n" } }], usage: USAGE },
      { text: "All done.", usage: USAGE },
    ],
  })
  const ran = await scene.run(...DIRECT, "do it", "--permission", "workspace-write")
  expect([ran.stdout, ran.code]).toEqual(["All done.\n", 0])
  const shown = document(
    await scene.run("run", "show", "r1", "--space", "s1", "--json", "--report", "--include-files"),
  )
  expect(shown).toMatchObject({
    run_id: "r1",
    harness: "direct",
    status: "succeeded",
    exit_code: 0,
    input_tokens: 200,
    cached_input_tokens: 60,
    output_tokens: 40,
    report: "All done.",
    files_touched: ["a.txt"],
  })
  expect(readFileSync(join(scene.project, "a.txt"), "utf8")).toBe("a\n")
  expect(readFileSync(join(scene.project, ".meridian/.gitignore"), "utf8")).toContain("/engine.sqlite*\n")
})

verifies("direct.continue-and-fork", async () => {
  const scene = await directScene({ script: [{ text: "First." }, { text: "Second." }, { text: "Forked." }] })
  await scene.run(...DIRECT, "one")
  const second = document(await scene.run("run", "continue", "r1", "-p", "two", "--space", "s1", "--json"))
  const forked = document(
    await scene.run("run", "continue", "r1", "--fork", "-p", "three", "--space", "s1", "--json"),
  )
  const first = document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))
  const session = Reflect.get(Object(first), "harness_session_id")
  expect(second).toMatchObject({ continued_from: "r1", harness_session_id: session, report: "Second." })
  expect(forked).toMatchObject({ continued_from: "r1", report: "Forked." })
  expect(Reflect.get(Object(forked), "harness_session_id")).not.toBe(session)
  // The fork begins with the words until then, and adds its own; the source stays as it was.
  const [, two = "", three = ""] = scene.asked()
  for (const body of [two, three]) expect(body).toContain("First.")
  expect([three.includes("Second."), two.includes("three")]).toEqual([true, false])
})

test("a model routed to it by name, by the catalogue or by its short name runs there", async () => {
  const scene = await directScene()
  mkdirSync(join(scene.project, ".meridian"), { recursive: true })
  writeFileSync(
    join(scene.project, ".meridian/models.toml"),
    '[models.mine]\nharness = "direct"\nharness_model = "anthropic/claude-haiku-4-5"\n',
  )
  for (const words of [
    ["-m", "direct/anthropic/claude-opus-4-6"],
    ["-m", "mine"],
    ["-m", "opus", "--harness", "direct"],
  ])
    expect((await scene.run("run", "spawn", "-p", "x", ...words)).code).toBe(0)
  expect(scene.asked().map((body) => /"model":"([^"]+)"/.exec(body)?.[1])).toEqual([
    "claude-opus-4-6",
    "claude-haiku-4-5",
    "claude-opus-5-5",
  ])
})

test("a continued run keeps its model, its agent and its directory", async () => {
  const scene = await directScene()
  mkdirSync(join(scene.project, ".meridian/agents"), { recursive: true })
  mkdirSync(join(scene.project, "deep"))
  writeFileSync(
    join(scene.project, ".meridian/agents/poet.md"),
    "---\nname: poet\n---\nSpeak in verse only.\n",
  )
  await scene.run(...DIRECT, "x", "-a", "poet", "-m", "claude-haiku-4-5", "--cwd", "deep")
  const again = await scene.run("run", "continue", "r1", "-p", "y", "--space", "s1")
  expect(again.code).toBe(0)
  for (const body of scene.asked()) {
    expect(body).toContain("Speak in verse only.")
    expect(body).toContain("claude-haiku-4-5")
    expect(body).toContain(`working directory: ${join(scene.project, "deep")}`)
  }
})

test("skills reach the model, and only changes are said again", async () => {
  const scene = await directScene()
  mkdirSync(join(scene.project, ".meridian/skills/care"), { recursive: true })
  writeFileSync(
    join(scene.project, ".meridian/skills/care/SKILL.md"),
    "---\nname: care\n---\nBe very careful.\n",
  )
  await scene.run(...DIRECT, "x", "-s", "care")
  await scene.run("run", "continue", "r1", "-p", "y", "--space", "s1")
  const times = scene.asked().map((body) => body.split("Be very careful.").length - 1)
  expect(times).toEqual([1, 1])
})

test("forbidden acts are refused: only reading by default, editing with workspace-write, everything with danger", async () => {
  const write = { name: "write", input: { path: "made.txt", content: "x" } }
  const bash = { name: "bash", input: { command: "echo ran > ran.txt" } }
  const scene = await directScene({
    script: Array.from({ length: 3 }, () => [{ tools: [write, bash] }, { text: "Done." }]).flat(),
  })
  const made = (): readonly boolean[] =>
    ["made.txt", "ran.txt"].map((name) => existsSync(join(scene.project, name)))
  await scene.run(...DIRECT, "x")
  expect(made()).toEqual([false, false])
  await scene.run(...DIRECT, "x", "--permission", "workspace-write", "--space", "s1")
  expect(made()).toEqual([true, false])
  await scene.run(...DIRECT, "x", "--permission", "danger", "--space", "s1")
  expect(made()).toEqual([true, true])
  expect(eventsOf(scene, "r2").some((line) => line.includes("Permission was refused"))).toBe(true)
})

verifies("direct.shared-database", async () => {
  const scene = await directScene({
    script: Array.from({ length: 6 }, (_, index) => ({
      when: { lastUser: `task-${index} ` },
      text: `Answer ${index}.`,
      delayMs: 300,
    })),
  })
  await scene.run(...DIRECT, "prepare")
  const runs = await Promise.all(
    Array.from({ length: 6 }, (_, index) => scene.run(...DIRECT, `task-${index} please`, "--space", "s1")),
  )
  expect(runs.map(({ stdout }) => stdout)).toEqual(
    Array.from({ length: 6 }, (_, index) => `Answer ${index}.\n`),
  )
  // One request for each prompt: no run worked on another's.
  expect(scene.asked()).toHaveLength(7)
})

/** Processes a tool recorded that still exist. */
const spawnedIn = (project: string): readonly string[] => {
  const pids = readFileSync(join(project, "pids"), "utf8").trim().split("\n")
  return pids.filter((pid) => existsSync(`/proc/${pid}`))
}

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("%s ends a run with everything it started, and it can be continued", async (signal, code) => {
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: "echo $$ > pids; sleep 300 & echo $! >> pids; wait" } }] },
      { text: "Back again." },
    ],
  })
  const child = spawn(process.execPath, [BINARY, ...DIRECT, "x", "--permission", "danger"], {
    cwd: scene.project,
    env: scene.env,
    stdio: "ignore",
  })
  await vi.waitFor(() => expect(spawnedIn(scene.project)).toHaveLength(2), 20_000)
  child.kill(signal)
  await once(child, "exit")
  expect(child.exitCode).toBe(code)
  await vi.waitFor(() => expect(spawnedIn(scene.project)).toEqual([]), 10_000)
  expect(document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))).toMatchObject({
    status: "cancelled",
  })
  const again = await scene.run("run", "continue", "r1", "-p", "go on", "--space", "s1")
  expect([again.stdout, again.code]).toEqual(["Back again.\n", 0])
})

test("a run whose engine was killed leaves no process and resumes on its own", async () => {
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: "echo $$ > pids; echo $PPID > engine; sleep 300" } }] },
      { text: "Back again." },
    ],
  })
  const child = spawn(process.execPath, [BINARY, ...DIRECT, "x", "--permission", "danger"], {
    cwd: scene.project,
    env: scene.env,
    stdio: "ignore",
  })
  await vi.waitFor(() => expect(spawnedIn(scene.project)).toHaveLength(1), 20_000)
  const session = Reflect.get(
    Object(document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))),
    "harness_session_id",
  )
  process.kill(engineOf(String(session)), "SIGKILL")
  await once(child, "exit")
  await vi.waitFor(() => expect(spawnedIn(scene.project)).toEqual([]), 10_000)
  expect(document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))).toMatchObject({
    status: "succeeded",
    harness_session_id: session,
    attempts: [{ why: "crashed" }, {}],
  })
  expect(scene.asked()[1]).toContain("interrupted")
})

/** The process that runs this session, by its command line. */
const engineOf = (session: string): number => {
  const listed = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const found = listed.find((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
      return words.includes("direct") && words.includes(session)
    } catch {
      return false
    }
  })
  return Number(found)
}

test("without a key a run echoes its prompt, and may be the default", async () => {
  const scene = await directScene({ env: { ANTHROPIC_API_KEY: "" } })
  writeFileSync(join(scene.project, ".meridian/config.toml"), '[harness]\ndefault = "direct"\n')
  const ran = await scene.run("run", "spawn", "-p", "hello\n\nworld")
  expect([ran.stdout, ran.code]).toEqual(["echo: hello\n\nworld\n", 0])
})

test("a time limit ends it", async () => {
  const scene = await directScene({ script: [{ text: "never", hold: "start" }] })
  const ran = await scene.run(...DIRECT, "x", "--timeout", "1")
  expect(ran.code).toBe(3)
  expect(ran.stderr).toContain("timeout")
})

test("a transient failure is retried, and the session has the prompt once", async () => {
  const scene = await directScene({
    script: [
      { text: "Started." },
      ...Array.from({ length: 4 }, () => ({ error: "rate-limit" as const })),
      { text: "At last." },
    ],
  })
  await scene.run("config", "set", "defaults.retry_backoff_seconds", "0")
  await scene.run(...DIRECT, "begin")
  const ran = await scene.run("run", "continue", "r1", "-p", "the only question", "--space", "s1", "--json")
  expect(document(ran)).toMatchObject({
    status: "succeeded",
    attempts: [{ why: "rate_limit" }, { why: "succeeded" }],
    report: "At last.",
  })
  expect(scene.asked().at(-1)?.split("the only question")).toHaveLength(2)
  expect(eventsOf(scene, "r2").filter((line) => line.includes('"type":"retry"'))).toHaveLength(3)
})

test("a retried new run continues in its session: no tool runs twice", async () => {
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: "echo once >> count.txt" } }] },
      ...Array.from({ length: 4 }, () => ({ error: "rate-limit" as const })),
      { text: "At last." },
    ],
  })
  await scene.run("config", "set", "defaults.retry_backoff_seconds", "0")
  const ran = await scene.run(...DIRECT, "the only question", "--permission", "danger", "--json")
  expect(document(ran)).toMatchObject({
    status: "succeeded",
    attempts: [{ why: "rate_limit" }, { why: "succeeded" }],
    report: "At last.",
  })
  expect(readFileSync(join(scene.project, "count.txt"), "utf8")).toBe("once\n")
  expect(scene.asked().at(-1)?.split("the only question")).toHaveLength(2)
})

test("bad input is reported in one line, with what to do", async () => {
  const scene = await directScene()
  const said = async (...words: readonly string[]): Promise<string> => {
    const ran = await scene.run(...words)
    return `${ran.code} ${ran.stderr}`
  }
  const unusable = await said(...DIRECT, "x", "-m", "nothing/here")
  expect(unusable).toContain("failure: model_not_found\nERROR [MODEL_NOT_USABLE]")
  for (const words of [
    ["-m", "direct/"],
    ["-m", "direct/", "--harness", "direct"],
  ])
    expect(await said("run", "spawn", "-p", "x", ...words)).toMatch(
      /^2 ERROR \[USAGE\]: direct\/ names no model/,
    )
  expect(await said("run", "spawn", "--harness", "nothing", "-p", "x")).toMatch(/^2 ERROR \[USAGE\]/)
  expect(await said("direct", "--headless", "--continue", "a", "--fork", "b")).toMatch(
    /^2 ERROR \[USAGE\]: Cannot combine/,
  )
  expect(await said("direct", "--launch", "/nowhere.json")).toMatch(/^2 ERROR \[USAGE\]/)
})

test.each([
  ["--bogus", 'Direct takes no "--bogus" after --.'],
  ["--bogus=1", 'Direct takes no "--bogus=1" after --.'],
  ["word", 'Direct takes no "word" after --.'],
  ["--max-turns", '--max-turns must be a whole number of at least 1, got "".'],
  ["--max-turns=0", '--max-turns must be a whole number of at least 1, got "0".'],
])("%s behind -- is refused at once, and nothing is written", async (word, problem) => {
  const scene = await directScene()
  const own = ["direct", "--headless", "--", word]
  const start = ["start", "--harness", "direct", "--", word]
  for (const words of [
    [...DIRECT, "x", "--", word],
    [...DIRECT, "x", "--background", "--", word],
    start,
    own,
  ]) {
    const ran = await scene.run(...words)
    expect([ran.code, ran.stdout]).toEqual([2, ""])
    expect(ran.stderr).toContain(`ERROR [USAGE]: ${problem} Next: `)
  }
  expect(readdirSync(join(scene.project, ".meridian"))).toEqual(["config.toml"])
  expect(scene.asked()).toEqual([])
})

test("a flag of another harness is dropped with a warning on stderr, as in every harness", async () => {
  const scene = await directScene()
  const ran = await scene.run(...DIRECT, "x", "--", "--add-dir", "a", "--max-turns", "3")
  expect(ran.code).toBe(0)
  expect(ran.stderr).toContain("WARNING [UNSUPPORTED_FLAG]: --add-dir is not supported by Direct.")
})

test("a run that names no model records the one it gets, and a continuation keeps it", async () => {
  const scene = await directScene()
  const model = "direct/anthropic/claude-sonnet-4-6"
  expect(document(await scene.run(...DIRECT, "x", "--dry-run", "--json"))).toMatchObject({ model })
  const ran = await scene.run(...DIRECT, "x")
  expect(ran.stderr).toContain(`${model} (direct)`)
  await scene.run("config", "set", "direct.model", "anthropic/claude-haiku-4-5")
  await scene.run("run", "continue", "r1", "-p", "y", "--space", "s1")
  await scene.run(...DIRECT, "z", "--space", "s1", "--background")
  await scene.run("run", "wait", "r3", "--space", "s1")
  const listed = document(await scene.run("run", "list", "--space", "s1", "--json"))
  expect(listed).toMatchObject({
    runs: [{ model: "direct/anthropic/claude-haiku-4-5" }, { model }, { model }],
  })
  expect(scene.asked().map((body) => /"model":"([^"]+)"/.exec(body)?.[1])).toEqual([
    "claude-sonnet-4-6",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
  ])
  expect((await scene.run("run", "show", "r1", "--space", "s1")).stdout).toContain(`Model: ${model} (direct)`)
})

test("a run without any model says that it echoes, and continues with a real one once there is one", async () => {
  const scene = await directScene()
  writeFileSync(join(scene.project, ".meridian/config.toml"), "")
  const { ANTHROPIC_API_KEY: _, ...env } = scene.env
  const echoed = await meridian([...DIRECT, "x", "--json"], { cwd: scene.project, env })
  expect(document(echoed)).toMatchObject({ model: "direct/meridian/echo", report: "echo: x" })
  expect(eventsOf(scene, "r1").some((line) => line.includes("No model is set up"))).toBe(true)
  const again = await scene.run("run", "continue", "r1", "-p", "y", "--space", "s1", "--json")
  const used = /"model":"([^"]+)"/.exec(scene.asked()[0] ?? "")?.[1]
  expect(document(again)).toMatchObject({ model: `direct/anthropic/${used}` })
})

test("a default model that cannot be used is refused before anything is written", async () => {
  const scene = await directScene()
  writeFileSync(join(scene.project, ".meridian/config.toml"), '[direct]\nmodel = "openai/gpt-5"\n')
  const ran = await scene.run(...DIRECT, "x")
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("ERROR [MODEL_NOT_USABLE]")])
  expect(readdirSync(join(scene.project, ".meridian"))).toEqual(["config.toml"])
})

test("servers of a launch offer tools that may be used", async () => {
  const server = {
    name: "echo",
    command: process.execPath,
    args: [resolve("test/fixture/mcp-echo.mjs")],
  }
  const scene = await directScene({
    script: [{ tools: [{ name: "echo_echo", input: { text: "hello server" } }] }, { text: "Heard." }],
  })
  const { end } = await scene.launch({ mcpServers: [server] })
  expect(end.exitCode).toBe(0)
  expect(scene.asked()[0]).toContain("echo_")
})

test("a session in use is not taken", async () => {
  const scene = await directScene({ script: [{ text: "never", hold: "start" }] })
  const session = { kind: "new", chosen: "11111111-2222-4333-8444-555555555555" } as const
  const child = spawn(process.execPath, [BINARY, ...directArgs(session.chosen)], {
    cwd: scene.project,
    env: scene.env,
    stdio: ["pipe", "ignore", "ignore"],
  })
  child.stdin.end("wait")
  await vi.waitFor(() => expect(scene.asked()).toHaveLength(1), 20_000)
  const { verdict } = await judged(
    await scene.launch({ session: { kind: "continue", id: harnessSessionId(session.chosen) } }),
  )
  expect(verdict.failure).toMatchObject({ class: "session_in_use", transient: false })
  child.kill("SIGTERM")
  await once(child, "exit")
  expect(child.exitCode).toBe(143)
})

const directArgs = (session: string): readonly string[] => ["direct", "--headless", "--session", session]

test("a server on the same state shows the session, knows its agent, and neither works for the other", async () => {
  const scene = await directScene({
    script: [{ text: "Mine." }, { hold: "start", text: "never" }, { text: "Mine too." }],
  })
  mkdirSync(join(scene.project, ".meridian/agents"), { recursive: true })
  writeFileSync(
    join(scene.project, ".meridian/agents/poet.md"),
    "---\nname: poet\n---\nSpeak in verse only.\n",
  )
  const server = await startServer(scene.project, ["--port", "0"], scene.env)
  const client = createClient({ url: server.url, token: server.token })
  await scene.run(...DIRECT, "one", "-a", "poet")
  const { items } = await client.sessions.list({})
  expect(items).toMatchObject([{ agent: "poet", status: "idle", location: { directory: scene.project } }])
  // Work the server has accepted but not begun when it is killed: only a server may resume it.
  const { id } = await client.sessions.create({ location: { directory: scene.project } })
  await client.sessions.prompt({ sessionID: id, prompt: { text: "held" } })
  await vi.waitFor(() => expect(scene.asked()).toHaveLength(2), 20_000)
  await client.sessions.prompt({ sessionID: id, prompt: { text: "for the server only" }, delivery: "queue" })
  await server.end("SIGKILL")
  const ran = await scene.run(...DIRECT, "two", "--space", "s1")
  expect(ran.stdout).toBe("Mine too.\n")
  expect(scene.asked()).toHaveLength(3)
  expect(scene.asked().some((body) => body.includes("for the server only"))).toBe(false)
})

test("the effort of a profile reaches the model, and an unknown one is named in the events", async () => {
  const scene = await directScene()
  mkdirSync(join(scene.project, ".meridian/agents"), { recursive: true })
  for (const effort of ["low", "enormous"])
    writeFileSync(
      join(scene.project, `.meridian/agents/${effort}.md`),
      `---\nname: ${effort}\neffort: ${effort}\n---\nWork.\n`,
    )
  await scene.run(...DIRECT, "x", "-a", "low")
  await scene.run(...DIRECT, "x", "-a", "enormous", "--space", "s1")
  expect(scene.asked().map((body) => /"(?:effort|budget_tokens)"/.test(body))).toEqual([true, false])
  const warned = eventsOf(scene, "r2").flatMap(
    (line) => /\[UNSUPPORTED_FLAG\]: (.+) is not supported by Direct/.exec(line)?.[1] ?? [],
  )
  expect(warned).toEqual(["effort enormous"])
})
