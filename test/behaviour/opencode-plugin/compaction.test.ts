import { afterEach, expect, test, vi } from "vitest"

import { verifies } from "../../verifies.ts"
import {
  openPretend,
  summaryMessage,
  toolMessage,
  userMessage,
  type Pretend,
  type PretendOptions,
} from "./pretend-opencode.ts"

const opened: Pretend[] = []
const open = async (options: PretendOptions = {}): Promise<Pretend> => {
  const pretend = await openPretend(options)
  opened.push(pretend)
  return pretend
}
afterEach(() => {
  for (const pretend of opened.splice(0)) pretend.close()
  vi.restoreAllMocks()
})

const SESSION = `# Session State
[Focus: refactor-auth] 2026-04-01
- Extracted the validator.
- Decision: keep the old exports.

## Next Operator Brief
- Open Work: migrate the callers.
- Blockers: the staging database is down.
`

const textsOf = (messages: readonly object[]): readonly string[] =>
  messages.flatMap((message) => {
    const parts: unknown = Reflect.get(message, "parts")
    return Array.isArray(parts) ? parts.map((part: object) => String(Reflect.get(part, "text"))) : []
  })

const SPEC = {
  ".codex/specs/001-auth/requirements.md": "# Requirements\nAll of it.",
  ".codex/specs/001-auth/design.md": "# Design\nAll of it.",
  ".codex/specs/001-auth/tasks.md": "## Batch 1 — Foundation\n- [x] 1. Parse\n- [ ] 2. Build\n",
}

verifies("plugin.brief", async () => {
  const opencode = await open({ files: { "SESSION.md": SESSION } })
  await opencode.tool("edit", { filePath: "src/a.ts" })
  const { context } = await opencode.compact()
  expect(context).toHaveLength(2)
  expect(context[0]).toMatch(/^## Stage-Aware Continuation\n/)
  expect(context[0]).toContain("## Next Action\n- migrate the callers.")
  expect(context[1]).toMatch(/^OpenCode Rules: Working context\n/)
})

test("without paths the brief stands alone, without the brief the paths do", async () => {
  const brief = await open({ files: { "SESSION.md": SESSION } })
  expect((await brief.compact()).context).toHaveLength(1)
  const paths = await open({ files: { "SESSION.md": SESSION }, options: { brief: false } })
  await paths.tool("read", { filePath: "a.ts" })
  expect((await paths.compact()).context).toEqual([
    "OpenCode Rules: Working context\nCurrent file paths in context:\n  - a.ts",
  ])
})

test("mode and artifact of the brief are logged with the session", async () => {
  const opencode = await open({ files: SPEC })
  await opencode.compact()
  expect(opencode.logs.find(({ level }) => level === "info")).toMatchObject({
    service: "meridian",
    extra: {
      session: "ses_1",
      mode: "workflow:spec/spec-execute",
      artifact: ".codex/specs/001-auth/tasks.md",
    },
  })
})

verifies("plugin.pin", async () => {
  const opencode = await open({ files: { ...SPEC, ".opencode/rules/a.md": "Rule A." } })
  await opencode.tool("read", { filePath: "src/a.ts" })
  expect(await opencode.mainRequest()).toHaveLength(1)
  await opencode.compact()
  const [pinned = "", rules = ""] = await opencode.mainRequest()
  for (const part of [
    "Primary Objective",
    "Canonical Workflow Stage\n- spec-execute",
    "Transition Gate",
    "Next Action",
  ])
    expect(pinned).toContain(`## ${part}`)
  expect(pinned).toContain("tasks.md\n- src/a.ts\n")
  expect(rules).toContain("Rule A.")
  await opencode.tool("read", { filePath: "src/b.ts" })
  await opencode.prompt("go on")
  expect((await opencode.mainRequest())[0]).toBe(pinned)
  expect(await opencode.titleRequest()).toEqual([])
  await opencode.compact()
  expect((await opencode.mainRequest())[0]).toContain("- src/a.ts\n- src/b.ts\n")
})

test("decisions and blockers are pinned", async () => {
  const opencode = await open({ files: { "SESSION.md": SESSION } })
  await opencode.compact()
  const [pinned = ""] = await opencode.mainRequest()
  expect(pinned).toContain("keep the old exports.")
  expect(pinned).toContain("the staging database is down.")
})

test("the pinned part follows its sources: a changed and a removed file count at the next request", async () => {
  const opencode = await open({ files: { "SESSION.md": SESSION } })
  await opencode.compact()
  opencode.write("SESSION.md", SESSION.replace("migrate the callers", "write the release notes"))
  const [pinned = ""] = await opencode.mainRequest()
  expect(pinned).toContain("write the release notes")
  expect(pinned).not.toContain("migrate the callers")
})

test("a workflow that moves on is pinned as it is now, also by a file that did not exist at the compaction", async () => {
  const opencode = await open({ files: { ...SPEC, ".codex/specs/001-auth/context.md": "" } })
  await opencode.compact()
  expect((await opencode.mainRequest())[0]).toContain("2 — Build")
  opencode.write(
    ".codex/specs/001-auth/tasks.md",
    "## Batch 1 — Foundation\n- [x] 1. Parse\n- [x] 2. Build\n- [ ] 3. Ship\n",
  )
  expect((await opencode.mainRequest())[0]).toContain("3 — Ship")
  opencode.write(
    ".codex/specs/001-auth/context.md",
    "## Decisions Made\n- [Batch 1] Decision: ship on Friday.\n",
  )
  expect((await opencode.mainRequest())[0]).toContain("ship on Friday")
})

test("a session without a compaction has nothing pinned, nor has one with pin switched off", async () => {
  const fresh = await open({ files: { "SESSION.md": SESSION } })
  expect(await fresh.mainRequest()).toEqual([])
  const off = await open({ files: { "SESSION.md": SESSION }, options: { pin: false } })
  await off.compact()
  expect(await off.mainRequest()).toEqual([])
})

test("a compaction of one session pins nothing to another", async () => {
  const opencode = await open({ files: { "SESSION.md": SESSION } })
  await opencode.compact()
  const output = { system: ["base"] }
  await opencode.hook("experimental.chat.system.transform", { sessionID: "ses_2", model: {} }, output)
  expect(output.system).toEqual(["base"])
})

test("after a restart the pinned part is back, with the paths from before the compaction", async () => {
  const opencode = await open({
    files: { "SESSION.md": SESSION },
    history: [
      userMessage("start"),
      toolMessage("read", { filePath: "src/before.ts" }),
      summaryMessage(),
      toolMessage("read", { filePath: "src/after.ts" }),
    ],
  })
  const [pinned = ""] = await opencode.mainRequest()
  expect(pinned).toContain("migrate the callers.")
  expect(pinned).toContain("## Active Files\n- src/before.ts\n")
  expect(pinned).not.toContain("src/after.ts")
})

test("a summary among the messages is enough when the host cannot be asked", async () => {
  const opencode = await open({ files: { "SESSION.md": SESSION }, client: { session: {} } })
  const messages = [userMessage("What did we do so far?"), summaryMessage()]
  await opencode.hook("experimental.chat.messages.transform", {}, { messages })
  expect(await opencode.mainRequest()).toEqual([])
  expect(messages).toHaveLength(3)
  expect(textsOf(messages.slice(2)).join("\n")).toContain("## Next Action\n- migrate the callers.")
})

verifies("working-set.block", async () => {
  const opencode = await open({ options: { brief: false } })
  await opencode.tool("read", { filePath: `${opencode.root}/src/utils/helpers.ts` })
  await opencode.tool("edit", { filePath: "./src//components/../components/Button.tsx" })
  await opencode.tool("grep", { pattern: "x", path: "src" })
  await opencode.tool("glob", { pattern: "lib/**/*.ts" })
  await opencode.tool("bash", { command: "ls", workdir: "scripts" })
  await opencode.tool("lsp", { filePath: "src/types.d.ts" })
  await opencode.tool("apply_patch", {
    patchText:
      "*** Begin Patch\n*** Update File: src/patched.ts\n*** Move to: src/moved.ts\n@@\n-*** Add File: no.ts\n*** End Patch",
  })
  expect((await opencode.compact()).context).toEqual([
    `OpenCode Rules: Working context
Current file paths in context:
  - lib
  - scripts
  - src
  - src/components/Button.tsx
  - src/moved.ts
  - src/patched.ts
  - src/types.d.ts
  - src/utils/helpers.ts`,
  ])
})

test("paths outside of the project, the project itself and addresses are not part of the working set", async () => {
  const opencode = await open({ options: { brief: false } })
  for (const filePath of [
    "/etc/passwd",
    "../../x",
    ".",
    "",
    "https://example.com/a.ts",
    "src/\u0000\n## Forged\u202Ea.ts",
  ])
    await opencode.tool("read", { filePath })
  await opencode.tool("read", { filePath: opencode.root })
  expect((await opencode.compact()).context).toEqual([
    "OpenCode Rules: Working context\nCurrent file paths in context:\n  - src/ ## Forgeda.ts",
  ])
})

verifies("working-set.limit", async () => {
  const opencode = await open({ options: { brief: false } })
  for (let index = 0; index < 25; index += 1)
    await opencode.tool("read", { filePath: `f${String(index).padStart(2, "0")}.ts` })
  await opencode.tool("read", { filePath: "f00.ts" })
  const lines = (await opencode.compact()).context[0]?.split("\n") ?? []
  expect(lines).toHaveLength(23)
  expect(lines[2]).toBe("  - f00.ts")
  expect(lines[3]).toBe("  - f06.ts")
  expect(lines.at(-2)).toBe("  - f24.ts")
  expect(lines.at(-1)).toBe("  ... and 5 more paths")
})

verifies("working-set.history", async () => {
  const opencode = await open({
    options: { brief: false },
    files: { ".opencode/rules/ts.md": "---\nglobs: ['src/*.ts']\n---\nStrict." },
    history: [userMessage("hello"), toolMessage("read", { filePath: "src/old.ts" })],
  })
  expect((await opencode.mainRequest())[0]).toContain("Strict.")
  await opencode.tool("read", { filePath: "src/new.ts" })
  expect((await opencode.compact()).context[0]).toContain("  - src/new.ts\n  - src/old.ts")
})

const launchFiles = (record: string): Readonly<Record<string, string>> => ({
  "state/.spaces/s1/sessions.jsonl": record,
  "agents/coder.md": "---\nname: coder\n---\nYou are the coder.",
  "skills/plan/SKILL.md": "---\nname: plan\n---\nPlan first.",
  "skills/copy/SKILL.md": "Plan first.",
})
const ENVIRONMENT = { MERIDIAN_STATE_ROOT: "<folder>/project/state", MERIDIAN_SPACE_ID: "s1" }

verifies(
  "launch.reinjected",
  async () => {
    const opencode = await open({ options: { brief: false }, environment: ENVIRONMENT })
    const start = (chat: string, at: string, more: object): string =>
      JSON.stringify({
        v: 1,
        event: "start",
        chat_id: chat,
        harness: "opencode",
        harness_session_id: "",
        started_at: at,
        ...more,
      })
    const paths = {
      agent_path: `${opencode.root}/agents/coder.md`,
      skill_paths: ["plan", "copy", "plan", "gone"].map((name) => `${opencode.root}/skills/${name}/SKILL.md`),
    }
    const lines = [
      start("c1", "2026-03-01T00:00:00Z", { harness_session_id: "ses_1", agent_path: "/nowhere.md" }),
      start("c2", "2026-03-02T00:00:00Z", paths),
      start("c3", "2026-03-03T00:00:00Z", { harness_session_id: "ses_other" }),
      JSON.stringify({ v: 1, event: "update", chat_id: "c2", harness_session_id: "ses_1" }),
      `{"event":"start","chat_id":"c9","harness_session_id":"ses_1","started`,
    ]
    for (const [path, text] of Object.entries(launchFiles(lines.join("\n")))) opencode.write(path, text)
    const expected = [
      "# Launch Context",
      "This session was started by Meridian with the following agent and skills. They stay in force after a compaction.",
      "## Agent: coder",
      "You are the coder.",
      "## Skill: plan",
      "Plan first.",
    ].join("\n\n")
    expect((await opencode.compact()).context).toEqual([expected])
    const [pinned = ""] = await opencode.mainRequest()
    expect(pinned).toContain("## Agent: coder\n\nYou are the coder.\n\n## Skill: plan\n\nPlan first.")
    expect(pinned.match(/Plan first\./g)).toHaveLength(1)
  },
  "newest record, front matter stripped, each text once",
)

verifies("launch.no-op", async () => {
  const record = JSON.stringify({
    event: "start",
    chat_id: "c1",
    harness_session_id: "ses_1",
    agent_path: "/x.md",
  })
  const cases: readonly PretendOptions[] = [
    { files: launchFiles(record) },
    { files: launchFiles(record), environment: { MERIDIAN_STATE_ROOT: "<folder>/project/state" } },
    { environment: ENVIRONMENT },
    { files: launchFiles(record.replace("ses_1", "ses_2")), environment: ENVIRONMENT },
    { files: launchFiles(record.slice(0, -3)), environment: ENVIRONMENT },
    { files: launchFiles(record), environment: { ...ENVIRONMENT, MERIDIAN_SPACE_ID: "../s1" } },
  ]
  for (const options of cases) {
    const opencode = await open({ ...options, options: { brief: false } })
    expect((await opencode.compact()).context).toEqual([])
  }
})

const settled = async (): Promise<void> => {
  await vi.waitFor(() => undefined)
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

verifies("silent.once", async () => {
  const opencode = await open({
    options: { silentMessages: true },
    files: { ".opencode/rules/a.md": "Rule A." },
  })
  await opencode.event("session.created", { info: { id: "ses_1" } })
  await opencode.event("session.created", { info: { id: "ses_1" } })
  await vi.waitFor(() => expect(opencode.sent).toHaveLength(1))
  await opencode.prompt("hello", { agent: "plan", model: { providerID: "fake", modelID: "small" } })
  await opencode.event("session.compacted", { sessionID: "ses_1" })
  await vi.waitFor(() => expect(opencode.sent).toHaveLength(2))
  await opencode.event("session.idle", { sessionID: "ses_1" })
  await settled()
  const text = "# OpenCode Rules\n\nPlease follow the following rules:\n\n## a.md\n\nRule A."
  expect(opencode.sent).toEqual([
    { session: "ses_1", body: { noReply: true, parts: [{ type: "text", text, synthetic: true }] } },
    {
      session: "ses_1",
      body: {
        noReply: true,
        agent: "plan",
        model: { providerID: "fake", modelID: "small" },
        parts: [{ type: "text", text, synthetic: true }],
      },
    },
  ])
})

verifies("silent.idle", async () => {
  const opencode = await open({
    options: { silentMessages: true },
    files: { ".opencode/rules/a.md": "Rule A." },
  })
  await opencode.event("session.status", { sessionID: "ses_1", status: { type: "busy" } })
  await opencode.event("session.compacted", { sessionID: "ses_1" })
  await settled()
  expect(opencode.sent).toEqual([])
  await opencode.event("session.status", { sessionID: "ses_1", status: { type: "idle" } })
  await vi.waitFor(() => expect(opencode.sent).toHaveLength(1))
})

test("nothing is sent silently unless it is asked for", async () => {
  const opencode = await open({ files: { ".opencode/rules/a.md": "Rule A." } })
  await opencode.event("session.created", { info: { id: "ses_1" } })
  await opencode.event("session.compacted", { sessionID: "ses_1" })
  await settled()
  expect(opencode.sent).toEqual([])
})

test("a silent message is not taken for a prompt", async () => {
  const opencode = await open({ files: { ".opencode/rules/a.md": "---\nkeywords: [deploy]\n---\nRule A." } })
  await opencode.prompt("deploy it")
  const parts = [{ type: "text", text: "something else", synthetic: true }]
  await opencode.hook("chat.message", { sessionID: "ses_1" }, { message: { role: "user" }, parts })
  expect(await opencode.mainRequest()).toHaveLength(1)
})

verifies("logs.literal", async () => {
  const printed: string[] = []
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    printed.push(String(text))
    return true
  })
  const opencode = await open({
    options: { silentMessages: true, debug: true },
    files: { ".opencode/rules/a.md": "Rule A." },
  })
  await opencode.event("session.created", { info: { id: "ses_1" } })
  await vi.waitFor(() => expect(opencode.sent).toHaveLength(1))
  await opencode.tool("read", { filePath: "a.ts" })
  await opencode.tool("read", { filePath: "b.ts" })
  await opencode.compact()
  await vi.waitFor(() => expect(opencode.sent).toHaveLength(2))
  const lines = [
    "[opencode-rules] Sent rules to session ses_1",
    "[opencode-rules] Added 2 context path(s) to compaction for session ses_1",
    "[opencode-rules] Session ses_1 compacted - rules re-sent",
  ]
  expect(printed).toEqual(lines.map((line) => `${line}\n`))
  expect(opencode.logs.filter(({ level }) => level === "debug").map(({ message }) => message)).toEqual(lines)
})
