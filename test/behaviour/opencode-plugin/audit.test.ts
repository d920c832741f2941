/** What an audit of 0.1.0 found in the plugin: one test per finding, under its id. P10: `log.test.ts` of the plugin. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { estimateTokens } from "@meridian/continuity"
import { afterEach, expect, test } from "vitest"

import { openPretend, type Pretend, type PretendOptions } from "./pretend-opencode.ts"

const opened: Pretend[] = []
const open = async (options: PretendOptions = {}): Promise<Pretend> => {
  const pretend = await openPretend(options)
  opened.push(pretend)
  return pretend
}
afterEach(() => {
  for (const pretend of opened.splice(0)) pretend.close()
})

const RULES = ".opencode/rules"
const STRICT = "---\nglobs: ['**/*.ts']\n---\nStrict types only."
const warnings = ({ logs }: Pretend): readonly string[] =>
  logs.filter(({ level }) => level === "warn").map(({ message }) => message)

const systemOf = async (
  opencode: Pretend,
  prompt: string,
  model: object = {},
): Promise<readonly string[]> => {
  const output = { system: [prompt] }
  await opencode.hook("experimental.chat.system.transform", { sessionID: "ses_1", model }, output)
  return output.system.slice(1)
}

test("P4: helper prompts that the host names late are known from then on, not missing for good", async () => {
  const title = "Erfinde einen Titel."
  const late = Promise.withResolvers<object>()
  const opencode = await open({
    files: { [`${RULES}/a.md`]: "Rule A." },
    client: { app: { log: async () => ({}), agents: () => late.promise } },
  })
  expect(await opencode.mainRequest()).toHaveLength(1)
  late.resolve({ data: [{ name: "title", prompt: title }] })
  expect(await systemOf(opencode, title)).toEqual([])
  expect(await opencode.mainRequest()).toHaveLength(1)
})

test("P5: an attached file counts whatever else is in the working set", async () => {
  const opencode = await open({ files: { [`${RULES}/ts.md`]: STRICT } })
  await opencode.tool("read", { filePath: "README.md" })
  await opencode.hook(
    "chat.message",
    { sessionID: "ses_1" },
    {
      message: { role: "user" },
      parts: [
        { type: "text", text: "look at this" },
        { type: "file", source: { type: "file", path: "src/app.ts" }, url: "file:///elsewhere" },
      ],
    },
  )
  expect((await opencode.mainRequest())[0]).toContain("Strict types only.")
})

test("P6: rules the user links into the own configuration folder are read; a link out of the project is not", async () => {
  const opencode = await open({ files: { "../dotfiles/mine.md": "My rule.", "../outside.md": "Not this." } })
  const own = join(opencode.root, "../config/opencode/rules")
  mkdirSync(own, { recursive: true })
  symlinkSync(join(opencode.root, "../dotfiles/mine.md"), join(own, "mine.md"))
  mkdirSync(join(opencode.root, RULES), { recursive: true })
  symlinkSync(join(opencode.root, "../outside.md"), join(opencode.root, RULES, "outside.md"))
  const [block = ""] = await opencode.mainRequest()
  expect(block).toContain("My rule.")
  expect(block).not.toContain("Not this.")
})

test("P8: a rule for a command does not fire on the prompt after a command that ran as a subtask", async () => {
  const opencode = await open({ files: { [`${RULES}/plan.md`]: "---\ncommand: plan\n---\nPlan well." } })
  const command = { sessionID: "ses_1", command: "plan", arguments: "" }
  await opencode.hook("command.execute.before", command, { parts: [{ type: "subtask", prompt: "Plan it." }] })
  await opencode.prompt("thanks, now go on")
  expect(await opencode.mainRequest()).toEqual([])
  await opencode.hook("command.execute.before", command, { parts: [{ type: "text", text: "Plan it." }] })
  await opencode.prompt("Plan it.")
  expect((await opencode.mainRequest())[0]).toContain("Plan well.")
})

test("P9: launch skills that find no room are cut or named, with where to read them", async () => {
  const record = (path: string): string =>
    JSON.stringify({
      v: 1,
      event: "start",
      chat_id: "c1",
      harness: "opencode",
      harness_session_id: "ses_1",
      started_at: "2026-03-01T00:00:00Z",
      skill_paths: ["long", "second"].map((name) => `${path}/skills/${name}/SKILL.md`),
    })
  const opencode = await open({
    environment: { MERIDIAN_STATE_ROOT: "<folder>/project/state", MERIDIAN_SPACE_ID: "s1" },
  })
  opencode.write("state/.spaces/s1/sessions.jsonl", `${record(opencode.root)}\n`)
  opencode.write("skills/long/SKILL.md", "One line of the long skill.\n".repeat(4_000))
  opencode.write("skills/second/SKILL.md", "Second.")
  const launch = (await opencode.compact()).context.at(-1) ?? ""
  expect(estimateTokens(launch)).toBeLessThanOrEqual(4_000)
  expect(launch).toContain("## Skill: long\n\nOne line of the long skill.\n")
  expect(launch).toContain("[cut here for lack of room]")
  expect(launch).toMatch(/Left out for lack of room, read before you go on: second \(.*second\/SKILL\.md\)/)
})

test("P12: a tool listing that fails is told in the log", async () => {
  const opencode = await open({
    files: { [`${RULES}/t.md`]: "---\ntools: [mcp_x]\n---\nUse x." },
    client: {
      tool: {
        ids: async () => {
          throw new Error("no")
        },
      },
      mcp: {},
    },
  })
  expect(await opencode.mainRequest()).toEqual([])
  expect(warnings(opencode)).toContain(
    "meridian: the host did not list its tools; rules about tools use the last list",
  )
})

test("P12: two slashes are no command, and blanks around the parts of a prompt do not matter", async () => {
  const opencode = await open({
    files: {
      [`${RULES}/plan.md`]: "---\ncommand: plan\n---\nPlan well.",
      [`${RULES}/deploy.md`]: "---\nkeywords: ['deploy now']\n---\nDeploy with care.",
    },
  })
  await opencode.prompt("//plan is a comment")
  expect(await opencode.mainRequest()).toEqual([])
  await opencode.hook(
    "chat.message",
    { sessionID: "ses_1" },
    {
      message: { role: "user" },
      parts: [
        { type: "text", text: "  please deploy \n" },
        { type: "text", text: "\n now  " },
      ],
    },
  )
  expect((await opencode.mainRequest())[0]).toContain("Deploy with care.")
  await opencode.prompt("  /plan the release ")
  expect((await opencode.mainRequest())[0]).toContain("Plan well.")
})

test("P12: rules told in a silent message are not told a second time in the same request", async () => {
  const opencode = await open({ files: { [`${RULES}/a.md`]: "Rule A." }, options: { silentMessages: true } })
  await opencode.event("session.created", { sessionID: "ses_1", info: { id: "ses_1" } })
  expect(JSON.stringify(opencode.sent)).toContain("Rule A.")
  expect(await opencode.mainRequest()).toEqual([])
})

test("P12: the working set stands once in what the summariser is told", async () => {
  const opencode = await open({ files: { "SESSION.md": "[Focus: a] 2026-04-01\n- Extracted it.\n" } })
  await opencode.tool("read", { filePath: "src/app.ts" })
  const text = (await opencode.compact()).context.join("\n")
  expect(text.split("src/app.ts")).toHaveLength(2)
})

test("P13: a keyword that flips and a ticked task change nothing before the conversation", async () => {
  const session =
    "[Focus: a] 2026-04-01\n- Decision: keep it.\n\n## Next Operator Brief\n- Open Work: first.\n"
  const opencode = await open({ files: { "SESSION.md": session } })
  const messages = [
    {
      info: { id: "m1", role: "assistant", sessionID: "ses_1", summary: true },
      parts: [{ type: "text", text: "Nothing." }],
    },
    { info: { id: "m2", role: "user", sessionID: "ses_1" }, parts: [{ type: "text", text: "Go on." }] },
    { info: { id: "m3", role: "assistant", sessionID: "ses_1" }, parts: [{ type: "text", text: "Done." }] },
  ]
  const ask = async (count: number) => {
    const output = { messages: messages.slice(0, count) }
    await opencode.hook("experimental.chat.messages.transform", {}, output)
    return { system: await opencode.mainRequest(), sent: JSON.stringify(output.messages) }
  }
  await opencode.compact()
  const before = await ask(2)
  opencode.write("SESSION.md", session.replace("first", "second"))
  const after = await ask(3)
  expect([before.system, after.system]).toEqual([[], []])
  expect(after.sent.startsWith(before.sent.slice(0, -1))).toBe(true)
  expect(after.sent.slice(before.sent.length)).toContain("second")
})

test("P14: a path that the prompt only names gets its rule in the first request", async () => {
  const opencode = await open({ files: { [`${RULES}/ts.md`]: STRICT } })
  await opencode.prompt("create src/new/x.ts with a parser")
  expect((await opencode.mainRequest())[0]).toContain("Strict types only.")
})

test("P14: all that is added together keeps to the window of the model", async () => {
  const opencode = await open({ files: { "SESSION.md": "[Focus: a]\n- Decision: keep it.\n" } })
  for (let at = 0; at < 40; at += 1)
    writeFileSync(join(makeFolder(opencode), `r${at}.md`), `Rule ${at}. ${"word ".repeat(150)}`)
  await opencode.compact()
  const added = await opencode.mainRequest({ providerID: "f", id: "s", limit: { context: 8_000 } })
  expect(estimateTokens(added.join("\n"))).toBeLessThanOrEqual(1_300)
})

const makeFolder = ({ root }: Pretend): string => {
  mkdirSync(join(root, RULES), { recursive: true })
  return join(root, RULES)
}
