/** Row 9 of the parity table: MCP servers and hosted tools, offered by the policy of the agent and of the request. */
import { rmSync } from "node:fs"
import { join } from "node:path"

import {
  lookingRules,
  openEngine,
  PLAN_RULES,
  type EngineOptions,
  type ModelConfig,
  type PermissionRule,
} from "@meridian/engine"
import { startScriptedProvider } from "@meridian/testkit"
import { expect } from "vitest"

import {
  allEvents,
  allMessages,
  ALLOW_ALL,
  codeOf,
  makeDirectory,
  openEngineScene,
  shown,
  tool,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const fixture = (name: string): string => join(import.meta.dirname, "../fixture", name)
const ECHO = { command: [process.execPath, fixture("mcp-echo.mjs")] }

verifies("tools.by-policy", async () => {
  await using scene = await openEngineScene([], {
    mcp: { lab: ECHO },
    agents: [{ name: "reader", tools: ["read", "lab_*"] }],
  })
  const { engine, requests } = scene
  const offered = async (input: object = {}): Promise<readonly string[]> => {
    await engine.sessions.prompt({ sessionID, prompt: { text: "go" }, ...input })
    await engine.sessions.wait(sessionID)
    return requests.at(-1)?.tools.map(({ name }) => name) ?? []
  }
  expect(await offered()).toEqual(expect.arrayContaining(["bash", "lab_echo"]))
  await engine.sessions.switchAgent({ sessionID, agent: "reader" })
  expect(await offered()).toEqual(["lab_echo", "read"])
  expect(await offered({ tools: { "lab_*": false } })).toEqual(["read"])
  await engine.sessions.switchAgent({ sessionID, agent: "plan" })
  expect(await offered()).not.toContain("lab_echo")
})

verifies("mcp.outage", async () => {
  await using scene = await openEngineScene([], {
    mcp: { gone: { command: ["/nowhere/at-all"] }, lab: ECHO },
  })
  const { engine, requests } = scene
  for (const text of ["one", "two", "three"]) {
    await engine.sessions.prompt({ sessionID, prompt: { text } })
    await engine.sessions.wait(sessionID)
  }
  const failed = (await allEvents(engine)).flatMap((event) =>
    event.type === "session.next.tooling.failed.1" ? [event.data] : [],
  )
  expect(failed).toEqual([
    {
      kind: "mcp",
      name: "gone",
      error: {
        code: "MCP_UNAVAILABLE",
        message: expect.stringMatching(/^The MCP server gone does not work: .*could not be reached/),
      },
    },
  ])
  expect(requests.at(-1)?.tools.map(({ name }) => name)).toContain("lab_echo")
})

verifies("tools.one-value", async () => {
  await using scene = await openEngineScene(
    [
      { tools: [{ name: "rename_symbol", input: { path: "src/a.ts" } }] },
      { tools: [{ name: "todo", input: { items: [] } }] },
    ],
    { tools: [{ ...tool("rename_symbol", () => "done", { path: { type: "string" } }), kind: "edit" }] },
  )
  const { engine } = scene
  await engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  await engine.sessions.wait(sessionID)
  const recorded = (await allEvents(engine)).flatMap((event) =>
    event.type === "session.next.tool.called.1" ? [[event.data.tool, event.data.kind]] : [],
  )
  const shownParts = (await allMessages(engine)).flatMap((message) =>
    message.type === "assistant"
      ? message.content.flatMap((part) => (part.type === "tool" ? [[part.tool, part.kind]] : []))
      : [],
  )
  const kinds = [
    ["rename_symbol", "edit"],
    ["todo", "think"],
  ]
  expect([recorded, shownParts]).toEqual([kinds, kinds])
})

verifies("tools.looking", () => {
  const names = (rules: readonly PermissionRule[]) =>
    rules
      .map(({ action, resource }) => `${action}${resource === "*" ? "" : ` ${resource}`}`)
      .toSorted((one, other) => (one < other ? -1 : 1))
  const session = ["expand", "question", "recall", "skill", "task", "todo"]
  const project = ["bash git diff", "bash git log", "bash git status", "glob", "grep", "read"]
  expect(names(lookingRules("session"))).toEqual(session)
  expect(names(lookingRules("project"))).toEqual([...session, ...project].toSorted())
  expect(PLAN_RULES).toEqual([{ action: "*", resource: "*", effect: "deny" }, ...lookingRules("project")])
})

interface Wire {
  readonly bodies: readonly string[]
  readonly ask: (input?: object) => Promise<string>
}

const openWire = async (
  model: Pick<ModelConfig, "provider" | "model" | "hosted">,
  options: Partial<EngineOptions> = {},
): Promise<Wire & AsyncDisposable> => {
  const provider = await startScriptedProvider({ respond: () => ({ text: "done" }) })
  const engine = await openEngine({
    database: ":memory:",
    permissions: ALLOW_ALL,
    models: [
      {
        id: "wire/one",
        baseURL: `${provider.url}/${model.provider === "google" ? "v1beta" : "v1"}`,
        apiKey: "key",
        contextWindow: 100_000,
        maxOutput: 1_000,
        ...model,
      },
    ],
    ...options,
  })
  const directory = makeDirectory()
  await engine.sessions.create({ id: sessionID, location: { directory } })
  const bodies: string[] = []
  return {
    bodies,
    ask: async (input = {}) => {
      await engine.sessions.prompt({ sessionID, prompt: { text: "go" }, ...input })
      await engine.sessions.wait(sessionID)
      return JSON.stringify(provider.requests.at(-1)?.body)
    },
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      await provider.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

verifies("tools.hosted", async () => {
  const wires = [
    [{ provider: "anthropic", model: "claude-sonnet-4-5" }, '"type":"web_search_20250305"'],
    [{ provider: "openai", model: "gpt-5" }, '{"type":"web_search"'],
    [{ provider: "google", model: "gemini-3-pro" }, '"googleSearch":{}'],
  ] as const
  for (const [model, written] of wires) {
    await using wire = await openWire({ ...model, hosted: ["web_search"] })
    const body = await wire.ask()
    expect([body.includes(written), body.includes("glob")]).toEqual([true, true])
    expect(await wire.ask({ tools: { web_search: false } })).not.toContain(written)
    await using without = await openWire(model)
    expect(await without.ask()).not.toContain(written)
  }
})

verifies(
  "tools.hosted",
  async () => {
    const hosted = ["web_search"] as const
    const model = { provider: "anthropic", model: "claude-sonnet-4-5", hosted } as const
    await using denied = await openWire(model, {
      permissions: [...ALLOW_ALL, { action: "web_search", resource: "*", effect: "deny" }],
    })
    expect(await denied.ask()).not.toContain("web_search")
    await using other = await openWire(model, { agents: [{ name: "build", tools: ["read"] }] })
    expect(await other.ask()).not.toContain("web_search")
    for (const wrong of [
      { provider: "openai-compatible", model: "x", hosted },
      { provider: "openai", model: "x", hosted: ["web_fetch"] },
      { provider: "google", model: "gemini-2.5-pro", hosted },
    ] as const)
      expect(await codeOf(openWire(wrong))).toBe("INVALID_INPUT")
  },
  "rules and agents take them away, and a provider without one says so at once",
)

verifies(
  "tools.hosted",
  async () => {
    const results = Array.from({ length: 400 }, (_unused, n) => ({
      url: `https://example.test/${n}`,
      title: `A page with a long title, number ${n}`,
    }))
    const search = { hosted: [{ query: "pages", results }], text: "found" }
    await using scene = await openEngineScene([search, search, search, { text: "last" }, { text: "end" }], {
      compaction: { prune: true, buffer: 1_000 },
    })
    const { engine, requests } = scene
    await engine.close()
    const model = scene.options.models[0]
    if (model === undefined) throw new Error("no model")
    const small = await scene.reopen({ models: [{ ...model, contextWindow: 32_000, maxOutput: 1_000 }] })
    for (const text of ["one", "two", "three", "four", "five"]) {
      await small.sessions.prompt({ sessionID, prompt: { text } })
      await small.sessions.wait(sessionID)
    }
    const types = (await allEvents(small)).map(({ type }) => type)
    expect(types).toContain("session.next.tool.pruned.1")
    const lines = shown(requests.at(-1))
    expect(lines.filter((line) => line.includes("old result was removed")).length).toBeGreaterThan(0)
    expect(lines).toContain("assistant: last")
  },
  "old results of them are pruned like others",
)
