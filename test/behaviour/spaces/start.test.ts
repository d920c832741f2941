import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import {
  codeOf,
  openScene,
  openSignals,
  until,
  type CallOptions,
  type Document,
  type Scene,
} from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

let scene: Scene
beforeEach(() => {
  scene = openScene()
})
afterEach(() => scene.close())

const start = (values: Document = {}, options: CallOptions = {}) =>
  scene.call("start", { model: "opus", ...values }, options)
const starts = (space = "s1") =>
  scene.events(`${space}/sessions.jsonl`).filter((event) => event["event"] === "start")

verifies("start.resumes-last-active", async () => {
  scene.harness("claude")
  expect((await start()).document).toMatchObject({ space_id: "s1", chat_id: "c1" })
  await start({ new: true })
  await start({ space: "s1" })
  expect((await start()).document).toMatchObject({ space_id: "s1", chat_id: "c3" })
})

verifies("start.warns-of-resume", async () => {
  scene.harness("claude")
  expect((await start({ name: "feature-auth" })).warnings).toEqual([])
  expect((await start()).warnings).toEqual([
    'WARNING [SPACE_AUTO_RESUMED]: Resumed active space s1 ("feature-auth"). Next: use --new to start a fresh space.',
  ])
  await start({ new: true })
  expect((await start()).warnings).toEqual([
    "WARNING [SPACE_AUTO_RESUMED]: Resumed active space s2. Next: use --new to start a fresh space.",
  ])
})

verifies("start.records-session", async () => {
  const claude = scene.harness("claude")
  await start({}, { passthrough: ["--append-system-prompt", "be brief"] })
  expect(starts()).toEqual([
    expect.objectContaining({
      v: 1,
      chat_id: "c1",
      harness: "claude",
      harness_session_id: claude.calls()[0]?.session,
      model: "claude-opus-5-5",
      params: ["--append-system-prompt", "be brief"],
      cwd: scene.project,
    }),
  ])
  expect(scene.events("s1/sessions.jsonl").at(-1)).toMatchObject({ event: "stop", chat_id: "c1" })
})

verifies("start.child-environment", async () => {
  const claude = scene.harness("claude")
  await start()
  expect(claude.calls()[0]?.env).toMatchObject({
    MERIDIAN_SPACE_ID: "s1",
    MERIDIAN_SPACE_FS: scene.state("s1/fs"),
    MERIDIAN_SESSION_ID: "c1",
    MERIDIAN_CHAT_ID: "c1",
    MERIDIAN_HARNESS_COMMAND: "claude",
    MERIDIAN_STATE_ROOT: join(scene.project, ".meridian"),
  })
})

test("the configured compaction threshold of Claude Code is passed on", async () => {
  const claude = scene.harness("claude")
  await start({}, { env: { MERIDIAN_AUTOCOMPACT_PCT: "65" } })
  await start()
  expect(claude.calls().map((call) => call.env["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"])).toEqual(["65", undefined])
})

verifies("start.new", async () => {
  scene.harness("claude")
  await start()
  const { document, warnings } = await start({ new: true })
  expect(document).toMatchObject({ space_id: "s2", chat_id: "c1" })
  expect(warnings).toEqual([])
  expect(await codeOf(start({ new: true, space: "s1" }))).toBe("USAGE")
  expect(await codeOf(start({ new: true, continue: "" }))).toBe("USAGE")
})

verifies("start.space", async () => {
  scene.harness("claude")
  await start()
  await start({ new: true })
  const { document, warnings } = await start({ space: "s1" })
  expect(document).toMatchObject({ space_id: "s1", chat_id: "c2" })
  expect(warnings).toEqual([])
  expect(await codeOf(start({ space: "s9" }))).toBe("SPACE_NOT_FOUND")
})

verifies("start.auto-resume-off", async () => {
  scene.harness("claude")
  await start()
  mkdirSync(join(scene.project, ".meridian"), { recursive: true })
  writeFileSync(join(scene.project, ".meridian/config.toml"), "[start]\nauto_resume = false\n")
  expect((await start()).document).toMatchObject({ space_id: "s2" })
  expect((await start({ space: "s1" })).document).toMatchObject({ space_id: "s1", chat_id: "c2" })
  expect((await start({ continue: "" })).document).toMatchObject({ space_id: "s1", chat_id: "c2" })
})

verifies("start.no-runs-log", async () => {
  scene.harness("claude")
  await start()
  expect(existsSync(scene.state("s1/runs.jsonl"))).toBe(false)
})

verifies("start.no-markers", async () => {
  scene.harness("claude")
  await start()
  expect(readdirSync(join(scene.project, ".meridian")).toSorted()).toEqual([".gitignore", ".spaces"])
  expect(readFileSync(scene.state("s1/sessions.jsonl"), "utf8")).not.toContain("supervisor")
})

verifies("start.continue-last", async () => {
  const claude = scene.harness("claude")
  await start()
  await start({ new: true })
  await start({ space: "s1" })
  const { document, warnings } = await start({ continue: "" })
  expect(document).toMatchObject({ space_id: "s1", chat_id: "c2" })
  expect(warnings).toEqual([
    "WARNING [SPACE_AUTO_RESUMED]: Resumed active space s1. Next: use --new to start a fresh space.",
  ])
  expect(claude.calls()[3]?.session).toBe(claude.calls()[2]?.session)
})

verifies("start.continue-reference", async () => {
  const claude = scene.harness("claude")
  await start()
  await start({ new: true })
  await start({ space: "s1" })
  expect((await start({ continue: "c2" })).document).toMatchObject({ space_id: "s1", chat_id: "c2" })
  const session = claude.calls()[1]?.session
  expect((await start({ continue: session })).document).toMatchObject({ space_id: "s2", chat_id: "c1" })
  expect(await codeOf(start({ continue: "c7" }))).toBe("CHAT_NOT_FOUND")
})

verifies("start.continue-in-space", async () => {
  scene.harness("claude")
  await start()
  await start({ new: true })
  expect((await start({ space: "s1", continue: "" })).document).toMatchObject({
    space_id: "s1",
    chat_id: "c1",
  })
  expect((await start({ space: "s2", continue: "c1" })).document).toMatchObject({
    space_id: "s2",
    chat_id: "c1",
  })
  expect(await codeOf(start({ space: "s2", continue: "c2" }))).toBe("CHAT_NOT_FOUND")
})

verifies("start.ambiguous", async () => {
  scene.harness("claude")
  await start()
  await start({ new: true })
  await expect(start({ continue: "c1" })).rejects.toThrow("Chat c1 exists in multiple spaces.")
})

verifies("start.harness-mismatch", async () => {
  scene.harness("claude")
  scene.harness("codex")
  await start()
  await expect(start({ continue: "c1", model: "codex" })).rejects.toMatchObject({
    code: "HARNESS_MISMATCH",
    message: "Session c1 was started with Claude. Cannot continue with a Codex model.",
    next: "pick a model on Claude or omit -m.",
  })
})

verifies("start.model-may-change", async () => {
  scene.harness("claude")
  await start()
  await start({ continue: "c1", model: "sonnet" })
  expect(starts().map((event) => event["model"])).toEqual(["claude-opus-5-5", "claude-sonnet-5-5"])
  expect((await scene.call("start", { continue: "c1" })).document).toMatchObject({
    model: "claude-sonnet-5-5",
  })
})

verifies("start.merges-params", async () => {
  const claude = scene.harness("claude")
  await start({}, { passthrough: ["--effort", "low", "--verbose"] })
  await start({ continue: "" }, { passthrough: ["--effort", "high", "--chrome"] })
  expect(starts()[1]?.["params"]).toEqual(["--verbose", "--effort", "high", "--chrome"])
  const argv = claude.calls()[1]?.argv.join(" ")
  expect(argv).toContain("--effort high")
  expect(argv).not.toContain("low")
})

verifies("start.unsupported-flag", async () => {
  const codex = scene.harness("codex", { session: "11111111-2222-4333-8444-555555555555" })
  const { warnings } = await start({ model: "codex" }, { passthrough: ["--append-system-prompt", "x"] })
  expect(warnings).toEqual([
    "WARNING [UNSUPPORTED_FLAG]: --append-system-prompt is not supported by Codex. Next: remove this flag or switch to a harness that supports it. Flag ignored.",
  ])
  expect(codex.calls()[0]?.argv.join(" ")).not.toContain("--append-system-prompt")
})

verifies("start.passes-native-id", async () => {
  const claude = scene.harness("claude")
  await start()
  await start({ continue: "c1" })
  expect(claude.calls()[1]?.argv).toEqual(expect.arrayContaining(["--resume", claude.calls()[0]?.session]))
})

test.each([
  ["codex", "codex", "11111111-2222-4333-8444-555555555555"],
  ["opencode", "gemini", "ses_abcdefghijklmnopqrstuvwxyz"],
] as const)(
  "the session id that %s chose is read from its files, at its end at the latest",
  async (as, model, session) => {
    scene.harness(as, { session })
    const { document } = await start({ model })
    expect(document).toMatchObject({ harness: as, harness_session_id: session })
    expect(scene.events("s1/sessions.jsonl")).toContainEqual({
      v: 1,
      event: "update",
      chat_id: "c1",
      harness_session_id: session,
    })
  },
)

verifies("start.continue-appends", async () => {
  scene.harness("claude")
  await start()
  await start({ continue: "c1" })
  expect(
    scene.events("s1/sessions.jsonl").map((event) => `${String(event["event"])} ${String(event["chat_id"])}`),
  ).toEqual(["start c1", "stop c1", "start c1", "stop c1"])
})

verifies("start.exit-code", async () => {
  scene.harness("claude", { exitCode: 7 })
  expect((await start()).exitCode).toBe(7)
  expect(scene.events("s1/sessions.jsonl").at(-1)).toMatchObject({ event: "stop" })
})

verifies(
  "start.exit-code",
  async () => {
    scene.harness("claude", { hang: "within" })
    const signals = openSignals()
    const running = start({}, { signals })
    await until(() => starts().length === 1)
    signals.send("SIGTERM")
    expect((await running).exitCode).toBe(143)
    expect(scene.events("s1/sessions.jsonl").at(-1)).toMatchObject({ event: "stop", chat_id: "c1" })
  },
  "even after a signal, which is passed on",
)

verifies("start.tells-how-to-continue", async () => {
  scene.harness("claude")
  expect((await start()).text).toBe("Continue this chat with: meridian start --space s1 --continue c1")
})

verifies("start.holds-lock", async () => {
  scene.harness("claude", { hang: "within" })
  const signals = openSignals()
  const running = start({}, { signals })
  await until(() => starts().length === 1)
  const { spawnSync } = await import("node:child_process")
  expect(spawnSync("flock", ["-n", scene.state("s1/sessions/c1.lock"), "true"]).status).toBe(1)
  expect((await scene.call("space.show", { space_id: "s1" })).document).toMatchObject({
    chats: [{ chat_id: "c1", alive: true }],
  })
  expect(await codeOf(start({ continue: "c1" }))).toBe("CHAT_ALIVE")
  signals.send("SIGTERM")
  await running
  expect(readdirSync(scene.state("s1/sessions"))).toEqual([])
})

test("a missing harness is reported before anything is written", async () => {
  const options = { env: { PATH: join(scene.project, "nowhere") } }
  await expect(start({}, options)).rejects.toMatchObject({ code: "HARNESS_NOT_INSTALLED" })
  expect(existsSync(join(scene.project, ".meridian"))).toBe(false)
})

test("a chat continues where it was started, whatever the current directory", async () => {
  const claude = scene.harness("claude")
  mkdirSync(join(scene.project, "sub"))
  await start({ cwd: "sub" })
  await start({ continue: "c1" }, { cwd: scene.project })
  expect(claude.calls().map((call) => call.cwd)).toEqual([
    join(scene.project, "sub"),
    join(scene.project, "sub"),
  ])
})

test("a dry run shows the command and writes nothing", async () => {
  scene.harness("claude")
  const { document } = await start({ dry_run: true })
  expect(document).toMatchObject({
    dry_run: true,
    harness: "claude",
    cli_command: expect.arrayContaining(["claude"]),
  })
  expect(existsSync(join(scene.project, ".meridian"))).toBe(false)
})

verifies("start.sweeps-stale-chats", async () => {
  scene.harness("claude")
  await start()
  writeFileSync(
    scene.state("s1/sessions.jsonl"),
    '{"v":1,"event":"start","chat_id":"c4","harness":"claude","harness_session_id":"x","model":"m","started_at":"2026-03-01T00:00:00Z"}\n',
  )
  writeFileSync(scene.state("s1/sessions/c4.lock"), "")
  await start({ space: "s1" })
  expect(scene.events("s1/sessions.jsonl")[1]).toMatchObject({ event: "stop", chat_id: "c4" })
  expect(readdirSync(scene.state("s1/sessions"))).toEqual([])
})
