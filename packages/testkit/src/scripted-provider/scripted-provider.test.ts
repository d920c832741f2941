/** The provider over raw HTTP, without any client library: it must write what the formats define. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import type { ScriptStep } from "@meridian/engine/script"
import { afterEach, describe, expect, test } from "vitest"

import { startScriptedProvider, type ScriptedProvider, type ScriptedProviderOptions } from "./server.ts"

const open: ScriptedProvider[] = []
const start = async (options: ScriptedProviderOptions): Promise<ScriptedProvider> => {
  const provider = await startScriptedProvider(options)
  open.push(provider)
  return provider
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((provider) => provider.close()))
})

const PATHS = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  generate: "/v1/models/m:streamGenerateContent?alt=sse",
} as const
type Api = keyof typeof PATHS
const APIS: readonly Api[] = ["chat", "responses", "messages", "generate"]

const ask = (
  provider: ScriptedProvider,
  api: Api,
  extra: { readonly stream?: boolean; readonly messages?: readonly object[] } = {},
): Promise<Response> => {
  if (api === "generate") {
    const path = extra.stream === false ? "/v1/models/m:generateContent" : PATHS.generate
    const body = { contents: [{ role: "user", parts: [{ text: "hello" }] }] }
    return fetch(provider.url + path, { method: "POST", body: JSON.stringify(body) })
  }
  const said = [{ role: "user", content: "hello" }]
  const body = {
    model: "m",
    stream: true,
    ...(api === "responses" ? { input: said } : { messages: said }),
    ...extra,
  }
  return fetch(provider.url + PATHS[api], { method: "POST", body: JSON.stringify(body) })
}

const eventsOf = (text: string): readonly unknown[] =>
  text
    .split("\n\n")
    .flatMap((block) => /^data: (.*)$/m.exec(block)?.[1] ?? [])
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data))

const TEXT_PATTERN: Readonly<Record<Api, RegExp>> = {
  chat: /"content":"([^"]+)"/g,
  responses: /"delta":"([^"]+)"/g,
  messages: /"type":"text_delta","text":"([^"]+)"/g,
  generate: /"text":"([^"]+)"/g,
}
const textOf = (api: Api, wire: string): string =>
  [...wire.matchAll(TEXT_PATTERN[api])].map((match) => match[1]).join("")

describe.each(APIS)("the scripted provider in the %s format", (api) => {
  test("streams the text of a step in as many pieces as asked", async () => {
    const provider = await start({ script: [{ text: "abcdefghijklmnopqrst", chunks: 20 }] })
    const wire = await (await ask(provider, api)).text()
    expect(textOf(api, wire)).toBe("abcdefghijklmnopqrst")
    expect([...wire.matchAll(TEXT_PATTERN[api])]).toHaveLength(20)
  })

  test("gives the same bytes for the same script", async () => {
    const script: readonly ScriptStep[] = [
      {
        reasoning: "hm",
        text: "let me see",
        tools: [{ name: "read", input: { path: "a" } }],
        usage: { cacheRead: 3 },
      },
    ]
    const [first, second] = await Promise.all([start({ script }), start({ script })])
    const wires = await Promise.all(
      [first, second].map(async (provider) => (await ask(provider, api)).text()),
    )
    expect(wires[0]).toBe(wires[1])
  })

  test("answers whole when no stream was asked for", async () => {
    const provider = await start({ script: [{ text: "whole answer" }] })
    const answer = await (await ask(provider, api, { stream: false })).text()
    expect(answer).toContain("whole answer")
    expect(answer).not.toContain("data:")
  })

  test("echoes the last text of the person when the script is used up", async () => {
    const provider = await start({ script: [{ text: "only one" }] })
    await (await ask(provider, api)).text()
    expect(textOf(api, await (await ask(provider, api)).text())).toBe("echo: hello")
    expect(provider.left()).toBe(0)
  })

  test("answers a fault with its status, its form and its retry-after", async () => {
    const provider = await start({ script: [{ error: "rate-limit" }] })
    const response = await ask(provider, api)
    expect(response.status).toBe(429)
    expect(response.headers.get("retry-after")).toBe("1")
    expect(await response.json()).toMatchObject({
      error:
        api === "generate"
          ? { code: 429, status: "RESOURCE_EXHAUSTED" }
          : { type: "rate_limit_error", message: "Rate limit reached" },
    })
  })

  test("breaks the connection in the middle of a cut reply", async () => {
    const provider = await start({
      script: [{ text: "a sentence that is long enough to be cut in two", cut: true }],
    })
    const response = await ask(provider, api)
    await expect(response.text()).rejects.toThrow(/terminated/)
    expect(await provider.ended(1)).toBe("cut")
  })

  test("holds a reply until it is released", async () => {
    const provider = await start({ script: [{ text: "late", hold: true }] })
    const pending = ask(provider, api)
    await provider.arrived(1)
    expect(provider.heldMs()).toEqual([])
    expect(provider.release()).toBe(1)
    expect(textOf(api, await (await pending).text())).toBe("late")
  })

  test("notices that the client left in the middle", async () => {
    const provider = await start({
      script: [{ text: "one two three four five six", chunks: 4, hold: "middle" }],
    })
    const response = await ask(provider, api)
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(await provider.ended(1)).toBe("client-closed")
  })

  test("ends an unfinished reply cleanly, without the end of the format", async () => {
    const provider = await start({ script: [{ text: "half", unfinished: true }] })
    const wire = await (await ask(provider, api)).text()
    expect(textOf(api, wire)).toBe("half")
    expect(wire).not.toMatch(/finish_reason":"|response.completed|message_stop|finishReason|\[DONE\]/)
  })

  test("writes 100,000 pieces and 10 MB without keeping them", async () => {
    const provider = await start({ script: [{ text: "0123456789", times: 1_000_000, chunks: 100_000 }] })
    const response = await ask(provider, api)
    let bytes = 0
    for await (const piece of response.body ?? []) bytes += piece.length
    expect(bytes).toBeGreaterThan(10_000_000)
    expect(await provider.ended(1)).toBe("sent")
  })

  test("reports how long it held each request", async () => {
    const provider = await start({ script: [{ text: "now" }, { text: "later", delayMs: 30 }] })
    await (await ask(provider, api)).text()
    await (await ask(provider, api)).text()
    await provider.ended(2)
    const held = provider.heldMs()
    expect(held).toHaveLength(2)
    expect(held[1]).toBeGreaterThan(25)
  })
})

describe("the scripted provider", () => {
  test("plays the first step whose condition holds", async () => {
    const provider = await start({
      script: [
        { when: { system: "title generator" }, repeat: true, text: "a title" },
        { when: { api: "messages" }, text: "not chat" },
        { when: { body: "hello", notBody: "goodbye" }, text: "matched" },
      ],
    })
    expect(textOf("chat", await (await ask(provider, "chat")).text())).toBe("matched")
    expect(provider.left()).toBe(1)
  })

  test("asks a function instead of a list", async () => {
    const provider = await start({
      respond: ({ n, lastUser, model }) => ({ text: `${n} ${lastUser} ${model}` }),
    })
    expect(textOf("chat", await (await ask(provider, "chat")).text())).toBe("1 hello m")
  })

  test("sends several tool calls in pieces, with repeated ids and arguments that are no JSON", async () => {
    const provider = await start({
      script: [
        {
          tools: [
            { name: "read", id: "same", input: { path: "a/rather/long/path/to/a/file" } },
            { name: "read", id: "same", raw: '{"path": ' },
          ],
        },
      ],
    })
    const events = eventsOf(await (await ask(provider, "chat")).text())
    const calls = JSON.stringify(events)
    expect(calls.match(/"id":"same"/g)).toHaveLength(2)
    expect(calls).toContain('{\\"path\\": ')
    expect(calls).toContain('"finish_reason":"tool_calls"')
  })

  test("signs thinking, encrypts reasoning and pairs server tools with their results", async () => {
    const script: readonly ScriptStep[] = [
      {
        reasoning: { text: "thought", signature: "sig-1", encrypted: "enc-1", id: "rs_mine" },
        hosted: [{ query: "weather", results: [{ url: "https://example.org", title: "Example" }] }],
        text: "sunny",
      },
    ]
    const anthropic = await (await ask(await start({ script }), "messages")).text()
    expect(anthropic).toContain('"type":"signature_delta","signature":"sig-1"')
    expect(anthropic).toContain('"type":"server_tool_use"')
    expect(anthropic).toContain('"type":"web_search_tool_result"')
    const openai = await (await ask(await start({ script }), "responses")).text()
    expect(openai).toContain('"id":"rs_mine"')
    expect(openai).toContain('"encrypted_content":"enc-1"')
    expect(openai).toContain('"type":"web_search_call"')
  })

  test("remembers the newest requests only, and no credentials", async () => {
    const provider = await start({ keep: 2 })
    for (const content of ["one", "two", "three"])
      await (await ask(provider, "chat", { messages: [{ role: "user", content }] })).text()
    await fetch(`${provider.url}/v1/models`, { headers: { authorization: "Bearer secret" } })
    expect(provider.requests.map(({ n }) => n)).toEqual([3, 0])
    expect(JSON.stringify(provider.requests)).not.toContain("secret")
  })

  test("remembers at most 64 MB of requests", async () => {
    const provider = await start({})
    const content = "x".repeat(30 * 1024 * 1024)
    for (let n = 0; n < 3; n++)
      await (await ask(provider, "chat", { messages: [{ role: "user", content }] })).text()
    expect(provider.requests.map(({ n }) => n)).toEqual([2, 3])
  })

  test("answers the other requests of real agents", async () => {
    const provider = await start({})
    const count = await fetch(`${provider.url}/v1/messages/count_tokens?beta=true`, {
      method: "POST",
      body: "{}",
    })
    expect(await count.json()).toEqual({ input_tokens: 1 })
    expect((await fetch(provider.url, { method: "HEAD" })).status).toBe(200)
    expect((await fetch(`${provider.url}/nowhere`)).status).toBe(404)
  })

  test("runs as a program that says its port, logs requests and ends on SIGTERM", async () => {
    const directory = mkdtempSync(join(tmpdir(), "scripted-provider-"))
    try {
      const script = join(directory, "script.json")
      const log = join(directory, "log.jsonl")
      writeFileSync(script, JSON.stringify({ turns: [{ label: "first", text: "from a file" }] }))
      const entry = fileURLToPath(new URL("main.entry.ts", import.meta.url))
      const child = spawn(
        process.execPath,
        ["--conditions=meridian-source", entry, "--script", script, "--log", log],
        {
          stdio: ["ignore", "pipe", "inherit"],
        },
      )
      const exited = once(child, "exit")
      const [line] = await once(createInterface(child.stdout), "line")
      const [, url = ""] = /"url":"(http:\/\/127\.0\.0\.1:\d+)","port":\d+\}$/.exec(String(line)) ?? []
      const response = await fetch(`${url}/v1/messages`, {
        method: "POST",
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
      })
      expect(await response.text()).toContain("from a file")
      expect(await (await fetch(`${url}/__fake/held`)).json()).toMatchObject({ held: [expect.any(Number)] })
      child.kill("SIGTERM")
      expect(await exited).toEqual([0, null])
      expect(JSON.parse(readFileSync(log, "utf8").trim())).toMatchObject({
        n: 1,
        api: "messages",
        turn: "first",
      })
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
