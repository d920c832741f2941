/**
 * An imported session continues with any provider: what is sent follows the rules of the wire, whatever the file contained.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type ImportPiece } from "@meridian/engine"
import { startScriptedProvider } from "@meridian/testkit"
import { describe, expect, test } from "vitest"

import { importFile, sessionFile } from "../import-scene.ts"

const WIRES = [
  { provider: "anthropic", path: "/v1" },
  { provider: "openai", path: "/v1" },
  { provider: "openai-compatible", path: "/v1" },
  { provider: "google", path: "/v1beta" },
] as const

/**
 * Everything that providers are strict about, at its worst: repeated ids, strange names, calls without results, empty
 * texts.
 */
const HOSTILE: readonly ImportPiece[] = [
  { kind: "text", turn: "0", text: "An answer before any prompt." },
  { kind: "prompt", prompt: { text: "go" } },
  { kind: "prompt", prompt: { text: "and go" } },
  { kind: "reasoning", turn: "1", model: "w/one", text: "hm" },
  { kind: "call", turn: "1", callID: "same", tool: "Read File (mcp)", input: { path: "a" } },
  { kind: "call", turn: "1", callID: "same", tool: "x".repeat(100), input: "text" },
  { kind: "call", turn: "1", callID: "a b/c", tool: "", raw: "{" },
  { kind: "result", callID: "same", content: [] },
  { kind: "result", callID: "same", content: [{ type: "text", text: "" }] },
  { kind: "text", turn: "2", text: "" },
  { kind: "call", turn: "3", callID: "same", tool: "Bash", input: { command: "ls" } },
  {
    kind: "result",
    callID: "same",
    content: [
      { type: "text", text: "a picture" },
      { type: "media", mediaType: "image/png", base64: "iVBORw0KGgo=" },
    ],
  },
  { kind: "failed", turn: "4", message: "API error" },
  { kind: "call", turn: "5", callID: "open", tool: "Bash", input: {} },
]

describe.each(WIRES)("$provider", ({ provider, path }) => {
  test.each(["claude", "codex", "opencode", "pi", "hostile"] as const)("goes on with %s", async (format) => {
    await using server = await startServer()
    const folder = mkdtempSync(join(tmpdir(), "meridian-import-wire-"))
    const engine = await openEngine({
      database: ":memory:",
      models: [
        {
          id: "w/one",
          model: "one",
          provider,
          baseURL: `${server.url}${path}`,
          apiKey: "key",
          contextWindow: 100_000,
          maxOutput: 1_000,
        },
      ],
      permissions: [{ action: "*", resource: "*", effect: "allow" }],
    })
    const location = { directory: folder }
    const source = { format: "claude", id: "x", digest: "x" }
    const { session } =
      format === "hostile"
        ? await engine.sessions.import({ location, source, history: HOSTILE })
        : await importFile(engine, sessionFile(format), folder)
    // The compaction precedes most of it, and the whole history is the harder case.
    await engine.sessions.restore({ sessionID: session.id })
    await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "And now?" } })
    await engine.sessions.wait(session.id)
    expect((await engine.sessions.get(session.id)).status).toBe("idle")
    const body = server.last()
    expect(brokenRules(body)).toEqual([])
    expect(JSON.stringify(body)).toContain("And now?")
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })
})

const startServer = async () => {
  const provider = await startScriptedProvider({ respond: () => ({ text: "yes" }) })
  return {
    url: provider.url,
    last: (): unknown => provider.requests.at(-1)?.body,
    [Symbol.asyncDispose]: () => provider.close(),
  }
}

type Fields = Readonly<Record<string, unknown>>
const fields = (value: unknown): Fields => Object.fromEntries(Object.entries(Object(value)))
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : [])

/** Calls and results in the order of any wire. */
const actsOf = (
  body: unknown,
): readonly { readonly kind: "call" | "result"; readonly id: string; readonly name?: string }[] => {
  const { messages, input, contents } = fields(body)
  const acts: { kind: "call" | "result"; id: string; name?: string }[] = []
  const call = (id: unknown, name: unknown) => acts.push({ kind: "call", id: String(id), name: String(name) })
  const result = (id: unknown) => acts.push({ kind: "result", id: String(id) })
  for (const item of list(input)) {
    if (item["type"] === "function_call") call(item["call_id"], item["name"])
    if (item["type"] === "function_call_output") result(item["call_id"])
  }
  for (const message of list(messages)) {
    for (const made of list(message["tool_calls"])) call(made["id"], fields(made["function"])["name"])
    if (message["role"] === "tool") result(message["tool_call_id"])
    for (const block of list(message["content"])) {
      if (block["type"] === "tool_use") call(block["id"], block["name"])
      if (block["type"] === "tool_result") result(block["tool_use_id"])
    }
  }
  for (const content of list(contents))
    for (const part of list(content["parts"])) {
      const made = fields(part["functionCall"])
      if (part["functionCall"] !== undefined) call(made["id"], made["name"])
      if (part["functionResponse"] !== undefined) result(fields(part["functionResponse"])["id"])
    }
  return acts
}

const brokenRules = (body: unknown): readonly string[] => {
  const acts = actsOf(body)
  const calls = acts.filter(({ kind }) => kind === "call")
  const results = acts.filter(({ kind }) => kind === "result")
  const { messages, input, contents } = fields(body)
  const first = [...list(messages), ...list(input), ...list(contents)].find(
    ({ role }) => role !== "system" && role !== "developer",
  )
  const empty = list(messages).some(({ content }) =>
    list(content).some(({ type, text }) => type === "text" && text === ""),
  )
  return [
    ...(calls.length === 0 ? ["there is no call at all"] : []),
    ...(new Set(calls.map(({ id }) => id)).size === calls.length ? [] : ["an id is used twice"]),
    ...calls
      .filter(({ name }) => !/^[\w-]{1,64}$/.test(name ?? ""))
      .map(({ name }) => `a tool is called ${name}`),
    ...calls
      .filter(({ id }) => results.filter((other) => other.id === id).length !== 1)
      .map(({ id }) => `${id} has no single result`),
    ...results
      .filter(({ id }) => !calls.some((other) => other.id === id))
      .map(({ id }) => `${id} has no call`),
    ...results
      .filter(
        ({ id }) =>
          acts.findIndex((act) => act.kind === "result" && act.id === id) <
          acts.findIndex((act) => act.kind === "call" && act.id === id),
      )
      .map(({ id }) => `${id} is answered before it is called`),
    ...(first?.["role"] === "user" ? [] : ["nobody asked first"]),
    ...(empty ? ["a text is empty"] : []),
  ]
}
