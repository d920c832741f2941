import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

import type { RecordedRequest } from "@meridian/testkit"
import { parseSync } from "oxc-parser"
import { afterEach, expect, test } from "vitest"

import { installHost } from "../../packages/cli/src/continuity/install-host.ts"
import { readInjected } from "../../packages/cli/src/continuity/read-injected.ts"
import { installHarness } from "./install-harnesses.ts"
import { BUILT_PLUGIN, messagesOf, openOpencode, type Opencode, type OpencodeOptions } from "./opencode.ts"

const opened: Opencode[] = []
const open = async (options: OpencodeOptions): Promise<Opencode> => {
  const opencode = await openOpencode(options)
  opened.push(opencode)
  return opencode
}
afterEach(async () => {
  for (const opencode of opened.splice(0)) await opencode.close()
})

const PROJECT = {
  "SESSION.md": `[Focus: refactor-auth] 2026-04-01
- Extracted the validator.
- Decision: keep the old exports.

## Next Operator Brief
- Open Work: migrate the callers.
`,
  ".opencode/rules/always.md": "Say please.",
  ".opencode/rules/typescript.md": "---\nglobs: **/*.ts\n---\nStrict types only.",
  "src/app.ts": "export {}\n",
}

const small = { input: 800, output: 20 }
const overflowing = { input: 7900, output: 20 }
const side = [
  { label: "title", when: { system: "title generator" }, repeat: true, text: "A title", usage: small },
  // A summariser that keeps nothing.
  {
    label: "summary",
    when: { system: "^You are a context summarization agent" },
    repeat: true,
    text: "(none)",
    usage: small,
  },
]
const call = (label: string, name: string, input: object, usage = small) => ({
  label,
  text: label,
  tools: [{ name, input }],
  usage,
})
const say = (label: string) => ({ label, text: label, usage: small })
const bash = { command: "true", description: "nothing" }

const AUTOMATIC = [
  ...side,
  call("read", "read", { filePath: "src/app.ts" }),
  call("first overflow", "bash", bash, overflowing),
  call("after first", "bash", bash),
  call("second overflow", "bash", bash, overflowing),
  say("after second"),
]

const labelled = (opencode: Opencode, label: string): readonly RecordedRequest[] =>
  opencode.provider.requests.filter(({ turn }) => turn === label)

const textOf = (request: RecordedRequest | undefined): string =>
  request === undefined
    ? ""
    : messagesOf(request)
        .map(({ text }) => text)
        .join("\n")

const addedSystem = (request: RecordedRequest | undefined): string =>
  request === undefined
    ? ""
    : messagesOf(request)
        .filter(({ role }) => role === "system")
        .slice(1)
        .map(({ text }) => text)
        .join("\n")

const expectPinned = (request: RecordedRequest | undefined): void => {
  const pinned = textOf(request)
  expect(pinned).toContain("## Task\n> ")
  expect(pinned).toContain("## Primary Objective\n- Migrate the callers.")
  expect(pinned).toContain("## Current Work\n- Focus: refactor-auth\n- Open work: migrate the callers.\n")
  expect(pinned).toContain("## Next Action\n- migrate the callers.")
  expect(pinned).toContain("keep the old exports.")
  expect(pinned).toContain("## Active Files\n- src/app.ts\n")
  const added = addedSystem(request)
  expect(added).not.toContain("Pinned Session State")
  expect(added).toContain(
    "# OpenCode Rules\n\nPlease follow the following rules:\n\n## always.md\n\nSay please.",
  )
  expect(added).toContain("## typescript.md\n\nStrict types only.")
}

const expectBrief = (request: RecordedRequest | undefined): void => {
  const text = textOf(request)
  expect(text).toContain("## Stage-Aware Continuation\nPreserve the canonical workflow names exactly.")
  expect(text).toContain("## Next Action\n- migrate the callers.")
  expect(text).toContain("OpenCode Rules: Working context\nCurrent file paths in context:\n  - src/app.ts")
  expect(addedSystem(request)).toBe("")
}

const built = (): string => readFileSync(BUILT_PLUGIN, "utf8")

test("the built file means the same as JavaScript and as TypeScript, so it may be installed as either", () => {
  const parsed = ["meridian.js", "meridian.ts"].map((name) => parseSync(name, built(), { astType: "js" }))
  expect(parsed.map(({ errors }) => errors)).toEqual([[], []])
  expect(JSON.stringify(parsed[0]?.program) === JSON.stringify(parsed[1]?.program)).toBe(true)
})

test("the built file runs on the Bun that OpenCode has inside, and exports nothing but its default", () => {
  const script = `
    const module = await import(${JSON.stringify(BUILT_PLUGIN)})
    const hooks = await module.default.server({ directory: process.cwd(), worktree: "/" })
    const output = { context: [] }
    await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, output)
    console.log(JSON.stringify({ exports: Object.keys(module), id: module.default.id, pushed: output.context.length }))`
  const { stdout } = spawnSync(installHarness("bun"), ["-e", script], {
    cwd: tmpdir(),
    env: { HOME: tmpdir() },
    encoding: "utf8",
    timeout: 60_000,
  })
  expect(JSON.parse(stdout)).toEqual({ exports: ["default"], id: "meridian", pushed: 1 })
})

test("two automatic compactions in a row: the summariser gets the brief, the next request gets the pinned part", async () => {
  const opencode = await open({
    script: AUTOMATIC,
    files: { ...PROJECT, ".opencode/plugins/meridian.js": built() },
  })
  const { exitCode } = await opencode.run("go")
  expect(exitCode).toBe(0)

  expect(addedSystem(labelled(opencode, "title")[0])).toBe("")
  expect(addedSystem(labelled(opencode, "read")[0])).not.toContain("typescript.md")
  // The file read in the middle of the turn activates its rule in the next request.
  expect(addedSystem(labelled(opencode, "first overflow")[0])).toContain("## typescript.md")
  const summaries = labelled(opencode, "summary")
  expect(summaries).toHaveLength(2)
  for (const request of summaries) expectBrief(request)
  for (const label of ["after first", "second overflow", "after second"])
    expectPinned(labelled(opencode, label)[0])
  // Between two compactions, nothing already sent changes, so a prompt cache keeps all of it.
  const [earlier, later] = ["after first", "second overflow"].map((label) =>
    JSON.stringify(labelled(opencode, label).map(messagesOf)[0]).slice(0, -1),
  )
  expect(later?.startsWith(earlier ?? "-")).toBe(true)
})

test("the same with /summarize over opencode serve, from a plugin entry with options, and after a restart", async () => {
  const opencode = await open({
    script: [
      ...side,
      call("read", "read", { filePath: "src/app.ts" }),
      say("answered"),
      say("after first"),
      say("after second"),
      say("after restart"),
    ],
    files: PROJECT,
    plugins: [[pathToFileURL(BUILT_PLUGIN).href, { maxBriefTokens: 900 }]],
  })
  const model = { providerID: "fake", modelID: "small" }
  const request = async (address: string, path: string, body: object): Promise<unknown> => {
    const answer = await fetch(`${address}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(200)
    return answer.json()
  }
  const prompt = (address: string, id: string, text: string): Promise<unknown> =>
    request(address, `/session/${id}/message`, { model, parts: [{ type: "text", text }] })

  const address = await opencode.serve()
  const session = await request(address, "/session", { title: "live" })
  const id = String(typeof session === "object" && session !== null ? Reflect.get(session, "id") : "")
  await prompt(address, id, "start")
  await request(address, `/session/${id}/summarize`, model)
  await prompt(address, id, "go on")
  await request(address, `/session/${id}/summarize`, model)
  await prompt(address, id, "and on")
  const restarted = await opencode.serve()
  await prompt(restarted, id, "once more")

  const summaries = labelled(opencode, "summary")
  expect(summaries).toHaveLength(2)
  for (const summary of summaries) expectBrief(summary)
  for (const label of ["after first", "after second", "after restart"])
    expectPinned(labelled(opencode, label)[0])
})

test("the package stands alone: OpenCode installs it from a tarball, and no meridian command is there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-tarball-"))
  const packed = spawnSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: join(BUILT_PLUGIN, "../.."),
    encoding: "utf8",
    timeout: 60_000,
  })
  const opencode = await open({
    script: [
      ...side,
      call("read", "read", { filePath: "src/app.ts" }),
      call("overflow", "bash", bash, overflowing),
      say("after"),
    ],
    files: PROJECT,
    plugins: [`@meridian/opencode-plugin@file:${join(folder, packed.stdout.trim())}`],
  })
  const { exitCode } = await opencode.run("go")
  rmSync(folder, { recursive: true, force: true })
  expect(exitCode).toBe(0)
  expectPinned(labelled(opencode, "after")[0])
})

test("evidence that cannot be written breaks neither the turn nor what is pinned", async () => {
  const opencode = await open({
    script: AUTOMATIC,
    files: { ...PROJECT, ".opencode/plugin/meridian.js": built() },
  })
  mkdirSync(join(opencode.home, "state"))
  writeFileSync(join(opencode.home, "state/meridian"), "a file where a folder should be")
  const { exitCode, stdout } = await opencode.run("go")
  expect(exitCode).toBe(0)
  expect(stdout).toContain("after second")
  expectPinned(labelled(opencode, "after second")[0])
})

test("what was said, done and loaded is in the first request after each compaction, though the summary invents a request", async () => {
  const invention = "drop the production database"
  const opencode = await open({
    script: [
      side[0] ?? {},
      { ...side[1], text: `The user asked: "${invention}".` },
      call("skill", "skill", { name: "orchestrate" }),
      call("todo", "todowrite", {
        todos: [
          { content: "write the parser", status: "in_progress", priority: "high" },
          { content: "an old idea", status: "cancelled", priority: "low" },
        ],
      }),
      { ...call("decided", "bash", bash), text: "Decision: the store is quokka-db." },
      call("spawned", "bash", { command: "echo r7 # meridian run spawn -p review", description: "spawn" }),
      call("read", "read", { filePath: "src/app.ts" }),
      call("first overflow", "bash", bash, overflowing),
      call("after first", "bash", bash),
      call("second overflow", "bash", bash, overflowing),
      say("after second"),
    ],
    files: {
      ...PROJECT,
      ".opencode/plugins/meridian.js": built(),
      ".opencode/skills/orchestrate/SKILL.md":
        "---\nname: orchestrate\ndescription: how to\n---\nSay quux before merging.\n",
    },
  })
  const { exitCode } = await opencode.run("Migrate the API to port 8080. Never touch the billing tables.")
  expect(exitCode).toBe(0)
  for (const label of ["after first", "after second"]) {
    const pinned = textOf(labelled(opencode, label)[0])
    expect(pinned).toContain("## Task\n> Migrate the API to port 8080. Never touch the billing tables.\n")
    expect(pinned).toContain("- the store is quokka-db.\n")
    expect(pinned).toContain("## Todo\n- write the parser (in progress)\n")
    expect(pinned).not.toContain("an old idea")
    expect(pinned).toContain("- Skill: orchestrate\n")
    expect(pinned).toContain("Say quux before merging.")
    expect(pinned).toContain("- r7: state unknown")
    expect(pinned).toContain("- build\n")
    expect(pinned).toContain(`The summary says the user asked "${invention}"; no such message exists.`)
    expect(labelled(opencode, label)).toHaveLength(1)
  }
})

test("installed by meridian init --opencode, silent messages cost no extra turn and spoil no title", async () => {
  const opencode = await open({
    script: AUTOMATIC,
    files: PROJECT,
    environment: { MERIDIAN_PLUGIN_OPTIONS: `{"silentMessages":true,"debug":true}` },
  })
  const input = { cwd: opencode.project, env: {}, program: [], host: "opencode", remove: false }
  expect(installHost(input)).toMatchObject({
    action: "installed",
    path: join(opencode.project, ".opencode/plugins/meridian.ts"),
  })
  const { exitCode, stderr, session } = await opencode.run("go")
  expect(exitCode).toBe(0)
  const main = opencode.provider.requests.filter(
    ({ api, turn }) => api === "chat" && turn !== "title" && turn !== "summary",
  )
  expect(main.map(({ turn }) => turn)).toEqual([
    "read",
    "first overflow",
    "after first",
    "second overflow",
    "after second",
  ])
  expect(labelled(opencode, "title")).toHaveLength(1)
  expect(stderr).toContain(`[opencode-rules] Sent rules to session ${session}`)
  expect(stderr).toContain(`[opencode-rules] Added 1 context path(s) to compaction for session ${session}`)
  const env = { XDG_STATE_HOME: join(opencode.home, "state") }
  const { entries, output } = readInjected({ cwd: opencode.project, env })
  expect(entries.map(({ request }) => request)).toContain("compaction")
  expect(output).toContain(`opencode ${session} main request`)
  expect(output).toContain("## Pinned Session State\n")
  expect(installHost({ ...input, remove: true })).toMatchObject({ action: "removed" })
})

test("the launch record brings agent and skills back after a compaction", async () => {
  const opencode = await open({
    script: [...side, say("first"), call("overflow", "bash", bash, overflowing), say("after")],
    files: { "SESSION.md": PROJECT["SESSION.md"] },
    environment: { MERIDIAN_STATE_ROOT: ".meridian", MERIDIAN_SPACE_ID: "s1" },
  })
  const plugins = join(opencode.project, ".opencode/plugins")
  mkdirSync(plugins, { recursive: true })
  copyFileSync(BUILT_PLUGIN, join(plugins, "meridian.js"))
  const { session } = await opencode.run("start")
  const space = join(opencode.project, ".meridian/.spaces/s1")
  mkdirSync(space, { recursive: true })
  const agent = join(opencode.project, "coder.md")
  writeFileSync(agent, "---\nname: coder\n---\nYou are the coder of this house.")
  writeFileSync(
    join(space, "sessions.jsonl"),
    `${JSON.stringify({ v: 1, event: "start", chat_id: "c1", harness_session_id: session, agent_path: agent, skill_paths: [], started_at: "2026-03-01" })}\n{"torn`,
  )
  await opencode.run("continue", "--session", session)
  expect(textOf(labelled(opencode, "summary")[0])).toContain(
    "## Agent: coder\n\nYou are the coder of this house.",
  )
  expect(textOf(labelled(opencode, "after")[0])).toContain(
    "## Agent: coder\n\nYou are the coder of this house.",
  )
})
