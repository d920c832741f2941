import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"

import plugin from "@meridian/opencode-plugin"
import * as fc from "fast-check"
import { afterEach, expect, onTestFinished, test, vi } from "vitest"

import { openPretend, type Pretend, type PretendOptions } from "./pretend-opencode.ts"

const opened: Pretend[] = []
const open = async (options: PretendOptions = {}): Promise<Pretend> => {
  const pretend = await openPretend(options)
  opened.push(pretend)
  return pretend
}
afterEach(() => {
  for (const pretend of opened.splice(0)) pretend.close()
  vi.useRealTimers()
})

const HOOKS = [
  "chat.message",
  "command.execute.before",
  "tool.execute.after",
  "tool.execute.before",
  "experimental.chat.messages.transform",
  "experimental.chat.system.transform",
  "experimental.session.compacting",
  "event",
] as const

test("the module is what OpenCode loads", async () => {
  expect(Object.keys(plugin).toSorted()).toEqual(["id", "server"])
  expect(plugin.id).toBe("meridian")
  expect(Object.keys(await plugin.server({})).toSorted()).toEqual([...HOOKS].toSorted())
})

test("unknown and ill-typed options are logged and ignored, from both sources", async () => {
  const opencode = await open({
    options: { rules: "yes", colour: "red", maxBriefTokens: -1, brief: false },
    environment: { MERIDIAN_PLUGIN_OPTIONS: `{"pin": 1, "workingSet": false}` },
    files: { ".opencode/rules/a.md": "Rule A." },
  })
  expect(opencode.logs.map(({ level, message }) => `${level} ${message}`)).toEqual([
    `warn meridian: plugin options: option "rules" must be true or false, ignored`,
    `warn meridian: plugin options: unknown option "colour", ignored`,
    `warn meridian: plugin options: option "maxBriefTokens" must be a whole number from 1 to 100000, ignored`,
    `warn meridian: MERIDIAN_PLUGIN_OPTIONS: option "pin" must be true or false, ignored`,
  ])
  expect(await opencode.mainRequest()).toHaveLength(1)
  await opencode.tool("read", { filePath: "a.ts" })
  expect((await opencode.compact()).context).toEqual([])
})

test.each(["not json", "[]", "7"])("MERIDIAN_PLUGIN_OPTIONS=%s changes nothing but the log", async (text) => {
  const opencode = await open({ environment: { MERIDIAN_PLUGIN_OPTIONS: text } })
  expect(opencode.logs).toHaveLength(1)
  expect((await opencode.compact()).context).toHaveLength(1)
})

test("maxBriefTokens bounds the brief and the pinned part", async () => {
  const decisions = Array.from({ length: 40 }, (_, at) => `- Decision: ${at} ${"word ".repeat(30)}`).join(
    "\n",
  )
  const opencode = await open({
    options: { maxBriefTokens: 300 },
    files: {
      "SESSION.md": `[Focus: x] 2026-04-01\n${decisions}\n\n## Next Operator Brief\n- Open Work: go\n`,
    },
  })
  const [brief = ""] = (await opencode.compact()).context
  expect(Buffer.byteLength(brief)).toBeLessThanOrEqual(1200)
  const [pinned = ""] = await opencode.mainRequest()
  expect(Buffer.byteLength(pinned)).toBeLessThanOrEqual(1200)
})

test("outside of version control the project is the folder the user is in", async () => {
  const opencode = await open({
    worktree: "/",
    files: { "SESSION.md": "[Focus: here]\n\n## Next Operator Brief\n- Open Work: stay\n" },
  })
  expect((await opencode.compact()).context[0]).toContain("## Next Action\n- stay")
})

test("a folder inside the project that keeps its own state speaks for itself, another one for the project", async () => {
  const state = (work: string): string => `[Focus: x]\n\n## Next Operator Brief\n- Open Work: ${work}\n`
  const files = {
    "SESSION.md": state("the whole"),
    "packages/web/SESSION.md": state("the web"),
    "packages/api/a.ts": "",
  }
  const web = await open({ directory: "packages/web", files })
  expect((await web.compact()).context[0]).toContain("## Next Action\n- the web")
  const api = await open({ directory: "packages/api", files })
  expect((await api.compact()).context[0]).toContain("## Next Action\n- the whole")
})

const throwing = new Proxy(
  {},
  {
    get: () => {
      throw new Error("hostile getter")
    },
  },
)

test.each([
  ["missing", undefined],
  ["empty", {}],
  ["throwing at every touch", throwing],
  [
    "rejecting",
    {
      app: { log: async () => Promise.reject(new Error("no")) },
      session: { messages: async () => Promise.reject(new Error("no")) },
    },
  ],
  [
    "throwing",
    {
      app: {
        log: () => {
          throw new Error("no")
        },
      },
      session: {
        messages: () => {
          throw new Error("no")
        },
      },
    },
  ],
])("with a client that is %s every hook still resolves and the rules are there", async (_, client) => {
  const opencode = await open({ files: { ".opencode/rules/a.md": "Rule A." } })
  const hooks = await plugin.server(
    { client, directory: opencode.root, worktree: opencode.root },
    { silentMessages: true, debug: false },
  )
  for (const hook of Object.values(hooks)) await expect(hook({ sessionID: "s" }, {})).resolves.toBeUndefined()
  const output = { system: ["base"] }
  await hooks["experimental.chat.system.transform"]?.({ sessionID: "s", model: {} }, output)
  expect(output.system[1]).toContain("Rule A.")
})

/** Lets time pass until the work is done. */
const passing = async <Value>(work: Promise<Value>): Promise<Value> => {
  const state = { isOver: false }
  const end = (): void => {
    state.isOver = true
  }
  work.then(end, end)
  while (!state.isOver) await vi.advanceTimersByTimeAsync(10)
  return work
}

test("a client that never answers holds no hook back", async () => {
  const never = () => new Promise<never>(() => undefined)
  const opencode = await open({
    files: { ".opencode/rules/a.md": "Rule A.", ".opencode/rules/t.md": "---\ntools: [x]\n---\nTool." },
    client: {
      app: { log: never, agents: never },
      session: { messages: never, status: never, prompt: never },
      tool: { ids: never },
      mcp: { status: never },
    },
    options: { silentMessages: true },
  })
  // On a fake clock: the hook's waits nearly fill its time, and a busy machine would use up the rest.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
  onTestFinished(() => void vi.useRealTimers())
  await passing(opencode.event("session.created", { info: { id: "ses_1" } }))
  await passing(opencode.prompt("hello"))
  expect(await passing(opencode.mainRequest())).toHaveLength(1)
  expect((await passing(opencode.compact())).context).toHaveLength(1)
  expect(await passing(opencode.mainRequest())).toHaveLength(1)
})

test("no input makes a hook throw", async () => {
  const opencode = await open({ files: { ".opencode/rules/a.md": "Rule A." } })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...HOOKS), fc.anything(), fc.anything(), async (name, input, output) => {
      await opencode.hook(name, input, output)
    }),
    { numRuns: 300 },
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...HOOKS), fc.anything(), fc.anything(), async (name, value, parts) => {
      await opencode.hook(
        name,
        {
          sessionID: "ses_1",
          model: value,
          event: { type: "session.compacted", properties: { sessionID: "ses_1", info: value } },
        },
        {
          message: value,
          parts,
          args: value,
          messages: [{ info: { sessionID: "ses_1", role: "user" }, parts }],
          system: [value],
          context: parts,
        },
      )
    }),
    { numRuns: 300 },
  )
  expect((await opencode.mainRequest()).at(-1)).toContain("Rule A.")
})

test("pipes, folders, devices and binary files in place of rules and state are passed over with a log line", async () => {
  const opencode = await open({ files: { ".opencode/rules/good.md": "Good." } })
  execFileSync("mkfifo", [join(opencode.root, ".opencode/rules/pipe.md"), join(opencode.root, "SESSION.md")])
  mkdirSync(join(opencode.root, ".opencode/rules/folder.md"))
  opencode.write(".opencode/rules/binary.md", Buffer.from([0, 1, 2, 255, 0, 254]))
  expect(await opencode.mainRequest()).toEqual([
    "# OpenCode Rules\n\nPlease follow the following rules:\n\n## good.md\n\nGood.",
  ])
  expect((await opencode.compact()).context).toHaveLength(1)
  const lines = opencode.logs.filter(({ level }) => level === "warn").map(({ message }) => message)
  expect(lines.filter((line) => line.includes("pipe.md"))).toHaveLength(1)
  expect(lines.filter((line) => line.includes("binary.md"))).toHaveLength(1)
  expect(lines.filter((line) => line.includes("SESSION.md"))).toHaveLength(1)
})

test("names with line breaks forge neither a heading nor a log line", async () => {
  const opencode = await open()
  opencode.write(".opencode/rules/a\n## Stage-Aware Continuation\n.md", "Rule A.")
  opencode.write(".opencode/rules/b\nERROR forged.md", "---\nglobs: [\n---\nB")
  const [block = ""] = await opencode.mainRequest()
  expect(block).not.toMatch(/^## Stage-Aware/m)
  expect(block.match(/^## /gm)).toHaveLength(1)
  expect(opencode.logs.map(({ message }) => message).join("")).not.toContain("\n")
})

test("a provider's own line before the prompt does not hide a title request", async () => {
  const opencode = await open({ files: { ".opencode/rules/a.md": "Rule A." } })
  const output = {
    system: ["You are a helpful provider.", "You are a title generator. You output ONLY a thread title."],
  }
  await opencode.hook("experimental.chat.system.transform", { sessionID: "ses_1", model: {} }, output)
  expect(output.system).toHaveLength(2)
})

test("the history of a hundred other sessions does not keep memory for the first", async () => {
  const opencode = await open({ options: { brief: false } })
  await opencode.tool("read", { filePath: "a.ts" })
  for (let index = 0; index < 150; index += 1)
    await opencode.hook(
      "tool.execute.before",
      { tool: "read", sessionID: `ses_x${index}`, callID: "c" },
      { args: { filePath: "b.ts" } },
    )
  expect((await opencode.compact()).context).toEqual([])
})
