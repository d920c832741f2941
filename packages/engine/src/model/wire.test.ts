/** What goes over the wire: native data comes back unchanged, caches are marked, connections are closed. */
import type { JsonObject } from "@meridian/protocol"
import { startScriptedProvider, type ScriptedProvider } from "@meridian/testkit"
import { afterEach, describe, expect, test } from "vitest"

import { realTime } from "../../../../test/real-time.ts"
import { verifies } from "../../../../test/verifies.ts"
import type { Model, ModelEvent, ModelRequest, PromptMessage, ProviderMetadata } from "../port/model.ts"
import type { ProviderName } from "./config.ts"
import { openModel } from "./open-model.ts"
import type { Reply, ScriptStep } from "./script.ts"

type WireName = Exclude<ProviderName, "scripted">

const running: ScriptedProvider[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((provider) => provider.close()))
})

interface Stage {
  readonly provider: ScriptedProvider
  readonly model: Model
}

const open = async (
  name: WireName,
  script: readonly ScriptStep[],
  model = name === "openai" ? "gpt-5" : name === "google" ? "gemini-3-pro" : "claude-one",
): Promise<Stage> => {
  const provider = await startScriptedProvider({ script })
  running.push(provider)
  const config = { id: "fake/one", model, contextWindow: 200_000, maxOutput: 8_000 }
  const address = { baseURL: `${provider.url}/v1`, apiKey: "sk-test-0123456789abcdef" }
  return {
    provider,
    model: openModel({ ...config, ...address, provider: name }, { ...realTime, now: () => 0 }),
  }
}

const request = (prompt: readonly PromptMessage[]): ModelRequest => ({
  sessionID: "ses_wire",
  prompt,
  tools: [{ name: "read", description: "Reads", input: { type: "object", properties: {} } }],
})

const HELLO: readonly PromptMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "hello" }] },
]

const ask = async (
  model: Model,
  prompt: readonly PromptMessage[],
  more: Partial<ModelRequest> = {},
): Promise<readonly ModelEvent[]> => {
  const events: ModelEvent[] = []
  const stream = model.stream({ ...request(prompt), ...more }, new AbortController().signal)
  for await (const event of stream) events.push(event)
  return events
}

const native = (metadata: ProviderMetadata | undefined): { providerOptions?: ProviderMetadata } =>
  metadata === undefined ? {} : { providerOptions: metadata }

const INPUTS: Readonly<Record<string, JsonObject>> = {
  '{"path":"a"}': { path: "a" },
  '{"query":"weather"}': { query: "weather" },
}

/** The assistant's turn as a session would keep it and send it back. */
const replay = (events: readonly ModelEvent[]): readonly PromptMessage[] => {
  const content: Extract<PromptMessage, { role: "assistant" }>["content"][number][] = []
  const texts = new Map<string, string>()
  const calls: string[] = []
  for (const event of events) {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
        texts.set(event.id, (texts.get(event.id) ?? "") + event.delta)
        break
      case "text-end":
        content.push({ type: "text", text: texts.get(event.id) ?? "", ...native(event.metadata) })
        texts.delete(event.id)
        break
      case "reasoning-end":
        content.push({ type: "reasoning", text: texts.get(event.id) ?? "", ...native(event.metadata) })
        texts.delete(event.id)
        break
      case "tool-call":
        if (!event.providerExecuted) calls.push(event.id)
        content.push({
          type: "tool-call",
          toolCallId: event.id,
          toolName: event.name,
          input: INPUTS[event.input] ?? {},
          providerExecuted: event.providerExecuted,
          ...native(event.metadata),
        })
        break
      case "tool-result":
        content.push({
          type: "tool-result",
          toolCallId: event.id,
          toolName: event.name,
          output: { type: event.isError ? "error-json" : "json", value: event.result },
          ...native(event.metadata),
        })
        break
      case "text-start":
      case "reasoning-start":
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
      case "finish":
        break
    }
  }
  const results: PromptMessage = {
    role: "tool",
    content: calls.map((id) => ({
      type: "tool-result",
      toolCallId: id,
      toolName: "read",
      output: { type: "text", value: "contents" },
    })),
  }
  return [{ role: "assistant", content }, ...(calls.length === 0 ? [] : [results])]
}

/** Plays the reply, sends everything back, and returns the body of the second request. */
const roundTrip = async (name: WireName, reply: Reply) => {
  const { provider, model } = await open(name, [reply, { text: "second" }])
  const events = await ask(model, HELLO)
  await ask(model, [...HELLO, ...replay(events)])
  return { events, first: provider.requests[0]?.body, second: provider.requests[1]?.body, provider }
}

const REPLY: Reply = {
  reasoning: { text: "I should look", signature: "sig-abc", encrypted: "enc-xyz", id: "rs_77" },
  text: "Looking.",
  tools: [{ name: "read", id: "call_9", input: { path: "a" } }],
}

describe("native data on the wire", () => {
  test("Anthropic's signature arrives in a delta, is on the end event, and returns unchanged", async () => {
    const { events, second } = await roundTrip("anthropic", REPLY)
    expect(events.find(({ type }) => type === "reasoning-end")).toMatchObject({
      metadata: { anthropic: { signature: "sig-abc" } },
    })
    expect(second).toMatchObject({
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "I should look", signature: "sig-abc" },
            { type: "text", text: "Looking." },
            { type: "tool_use", id: "call_9", name: "read", input: { path: "a" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_9", content: "contents" }] },
      ],
    })
  })

  verifies(
    "native.round-trip",
    async () => {
      const { second } = await roundTrip("anthropic", {
        reasoning: { text: "", redacted: "opaque==" },
        text: "ok",
      })
      expect(second).toMatchObject({
        messages: [{}, { content: [{ type: "redacted_thinking", data: "opaque==" }, { type: "text" }] }],
      })
    },
    "Anthropic's redacted thinking",
  )

  test("OpenAI's encrypted reasoning and item ids return unchanged, and nothing is stored there", async () => {
    const { events, first, second } = await roundTrip("openai", REPLY)
    expect(events.find(({ type }) => type === "reasoning-end")).toMatchObject({
      metadata: { openai: { itemId: "rs_77", reasoningEncryptedContent: "enc-xyz" } },
    })
    expect(first).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] })
    expect(second).toMatchObject({
      input: expect.arrayContaining([
        expect.objectContaining({
          type: "reasoning",
          id: "rs_77",
          encrypted_content: "enc-xyz",
          summary: [{ type: "summary_text", text: "I should look" }],
        }),
        expect.objectContaining({ type: "function_call", call_id: "call_9", arguments: '{"path":"a"}' }),
        expect.objectContaining({ type: "function_call_output", call_id: "call_9", output: "contents" }),
      ]),
    })
  })

  test("a compatible server gets its reasoning content back", async () => {
    const { second } = await roundTrip("openai-compatible", REPLY)
    expect(second).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
        {
          role: "assistant",
          content: "Looking.",
          reasoning_content: "I should look",
          tool_calls: [
            { id: "call_9", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call_9", content: "contents" },
      ],
    })
  })
})

const HOSTED: Reply = {
  hosted: [{ query: "weather", results: [{ url: "https://example.org/w", title: "Weather" }] }],
  text: "Sunny.",
}

describe("Google", () => {
  test("gets its thought signatures back in their places, on a text and on a call", async () => {
    const { provider, model } = await open("google", [
      { reasoning: { text: "let me see", signature: "sig-text" }, text: "I look." },
      {
        reasoning: { text: "which file", signature: "sig-call" },
        tools: [
          { name: "read", id: "call_1", input: { path: "a" } },
          { name: "read", id: "call_2", input: { path: "a" } },
        ],
      },
      { text: "done" },
    ])
    const first = replay(await ask(model, HELLO))
    const second = replay(await ask(model, [...HELLO, ...first]))
    await ask(model, [...HELLO, ...first, ...second])
    const call = { functionCall: { id: "call_1", name: "read", args: { path: "a" } } }
    expect(provider.requests[2]?.body).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "hello" }] },
        {
          role: "model",
          parts: [
            { text: "let me see", thought: true },
            { text: "I look.", thoughtSignature: "sig-text" },
          ],
        },
        {
          role: "model",
          parts: [
            { text: "which file", thought: true },
            { ...call, thoughtSignature: "sig-call" },
            { functionCall: { id: "call_2" } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "call_1", name: "read", response: { content: "contents" } } },
            { functionResponse: { id: "call_2" } },
          ],
        },
      ],
      generationConfig: { maxOutputTokens: 8_000, thinkingConfig: { includeThoughts: true } },
      tools: [{ functionDeclarations: [{ name: "read", description: "Reads" }] }],
    })
    expect(JSON.stringify(provider.requests[2]?.body).match(/sig-/g)).toHaveLength(2)
  })

  test("is asked for its thoughts only when the model has some", async () => {
    const { provider, model } = await open("google", [{ text: "ok" }], "gemini-2.0-flash")
    await ask(model, HELLO)
    expect(JSON.stringify(provider.requests[0]?.body)).not.toContain("thinkingConfig")
  })

  test("is sent its key in a header, never in the address", async () => {
    const { provider, model } = await open("google", [{ text: "ok" }])
    await ask(model, HELLO)
    expect(provider.requests[0]).toMatchObject({
      path: "/v1/models/gemini-3-pro:streamGenerateContent?alt=sse",
      headers: { "x-goog-api-key": "<hidden>" },
    })
  })

  test("reads a later system message inside the user's turn, and no message without content", async () => {
    const { provider, model } = await open("google", [{ text: "ok" }])
    await ask(model, [
      ...HELLO,
      { role: "assistant", content: [{ type: "text", text: "" }] },
      { role: "system", content: "The date changed." },
    ])
    expect(provider.requests[0]?.body).toMatchObject({
      contents: [
        { role: "user", parts: [{ text: "hello" }] },
        { role: "user", parts: [{ text: "<system-update>\nThe date changed.\n</system-update>" }] },
      ],
    })
  })

  test.each(["gemini-2.5-pro", "gemini-3-pro"])("%s gets one answer for every call", async (name) => {
    const { provider, model } = await open("google", [{ text: "ok" }], name)
    const image = { type: "file", data: { type: "data", data: "aGk=" }, mediaType: "image/png" } as const
    const text = (words: string) => ({ type: "text", text: words }) as const
    const results = [[image], [text("one"), image, text("two")], [text("")], []]
    const calls = results.map((value, at) => ({ toolCallId: `c${at}`, toolName: "read", value }))
    const prompt: readonly PromptMessage[] = [
      ...HELLO,
      {
        role: "assistant",
        content: calls.map(({ toolCallId, toolName }) => ({
          type: "tool-call",
          toolCallId,
          toolName,
          input: {},
        })),
      },
      {
        role: "tool",
        content: calls.map(({ toolCallId, toolName, value }) => ({
          type: "tool-result",
          toolCallId,
          toolName,
          output: { type: "content", value },
        })),
      },
    ]
    const before = structuredClone(prompt)
    await ask(model, prompt)
    const body = JSON.stringify(provider.requests[0]?.body)
    const answers = body.matchAll(
      /"functionResponse":\{"id":"(c\d)","name":"read","response":\{"name":"read","content":"([^"]*)"/g,
    )
    expect([...answers].map(([, id, content]) => [id, content])).toEqual([
      ["c0", "[image/png file, shown below]"],
      ["c1", String.raw`one\ntwo`],
      ["c2", ""],
      ["c3", ""],
    ])
    expect(body.match(/"inlineData":\{"mimeType":"image\/png","data":"aGk="\}/g)).toHaveLength(2)
    expect(prompt).toEqual(before)
  })
})

describe("hosted tools", () => {
  test.each(["anthropic", "openai"] as const)(
    "%s: call and result are both reported as the provider's",
    async (name) => {
      const { model } = await open(name, [HOSTED])
      const events = await ask(model, HELLO)
      expect(events.find(({ type }) => type === "tool-call")).toMatchObject({
        name: "web_search",
        providerExecuted: true,
      })
      expect(events.find(({ type }) => type === "tool-result")).toMatchObject({
        name: "web_search",
        isError: false,
      })
      expect(JSON.stringify(events.find(({ type }) => type === "tool-result"))).toContain(
        "https://example.org/w",
      )
      expect(events.at(-1)).toMatchObject({ type: "finish", reason: "stop" })
    },
  )

  verifies(
    "native.round-trip",
    async () => {
      const { second } = await roundTrip("anthropic", HOSTED)
      expect(second).toMatchObject({
        messages: [
          {},
          {
            role: "assistant",
            content: [
              { type: "server_tool_use", name: "web_search", input: { query: "weather" } },
              {
                type: "web_search_tool_result",
                content: [
                  { url: "https://example.org/w", encrypted_content: "encrypted:https://example.org/w" },
                ],
              },
              { type: "text", text: "Sunny." },
            ],
          },
        ],
      })
    },
    "Anthropic gets its pair of blocks back with the encrypted content of the results",
  )

  test("OpenAI gets its search call back", async () => {
    const { second } = await roundTrip("openai", HOSTED)
    expect(second).toMatchObject({
      input: expect.arrayContaining([
        expect.objectContaining({
          type: "web_search_call",
          action: expect.objectContaining({ query: "weather" }),
        }),
      ]),
    })
  })

  test("a failed hosted tool is a result that says so", async () => {
    const { model } = await open("anthropic", [
      { hosted: [{ query: "x", error: "max_uses_exceeded" }], text: "no" },
    ])
    const events = await ask(model, HELLO)
    expect(events.find(({ type }) => type === "tool-result")).toMatchObject({
      isError: true,
      result: { errorCode: "max_uses_exceeded" },
    })
  })
})

describe("files in results of tools", () => {
  const read: readonly PromptMessage[] = [
    ...HELLO,
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "read", input: {} }] },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c1",
          toolName: "read",
          output: {
            type: "content",
            value: [
              { type: "text", text: "a picture" },
              { type: "file", data: { type: "data", data: "aGk=" }, mediaType: "image/png" },
            ],
          },
        },
      ],
    },
  ]
  test.each([
    ["anthropic", { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }],
    ["openai", { type: "input_image", image_url: "data:image/png;base64,aGk=" }],
    ["openai-compatible", { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }],
    ["google", { inlineData: { mimeType: "image/png", data: "aGk=" } }],
  ] as const)("%s sees the picture", async (name, picture) => {
    const { provider, model } = await open(name, [{ text: "nice" }])
    await ask(model, read)
    const body = JSON.stringify(provider.requests[0]?.body)
    expect(body).toContain(JSON.stringify(picture).slice(0, -1))
    expect(body).not.toContain("aGk=\\")
  })
})

describe("a value that is wanted", () => {
  const SCHEMA: JsonObject = {
    type: "object",
    properties: { verdict: { type: "string" } },
    required: ["verdict"],
    additionalProperties: false,
  }

  const bodyOf = async (name: WireName, more: Partial<ModelRequest>, modelName?: string) => {
    const { provider, model } = await open(name, [{ text: "{}" }], modelName)
    await ask(model, HELLO, more)
    return provider.requests[0]?.body
  }

  test.each([
    ["anthropic", { tool_choice: { type: "any" } }],
    ["openai", { tool_choice: "required" }],
    ["openai-compatible", { tool_choice: "required" }],
    ["google", { toolConfig: { functionCallingConfig: { mode: "ANY" } } }],
  ] as const)("%s is told that it must call a tool", async (name, choice) => {
    expect(await bodyOf(name, { mustCall: true })).toMatchObject(choice)
  })

  test("Anthropic is not forced while it thinks, which it refuses", async () => {
    const body = await bodyOf(
      "anthropic",
      { mustCall: true, settings: { effort: "high" } },
      "claude-sonnet-4-5",
    )
    expect(body).not.toMatchObject({ tool_choice: { type: "any" } })
  })

  test.each([
    [
      "anthropic",
      "claude-sonnet-4-5",
      { output_config: { format: { type: "json_schema", schema: SCHEMA } } },
    ],
    ["openai", "gpt-5", { text: { format: { type: "json_schema", schema: SCHEMA, strict: false } } }],
    [
      "google",
      "gemini-3-pro",
      { generationConfig: { responseMimeType: "application/json", responseJsonSchema: SCHEMA } },
    ],
  ] as const)("%s is told the schema of its answer", async (name, modelName, format) => {
    expect(await bodyOf(name, { tools: [], answer: SCHEMA }, modelName)).toMatchObject(format)
  })
})

describe("prompt caches", () => {
  test("Anthropic is not told to cache messages of a single request", async () => {
    const { provider, model } = await open("anthropic", [{ text: "ok" }])
    const passing: PromptMessage = { role: "user", content: [{ type: "text", text: "for now" }] }
    await ask(model, [...HELLO, passing], { passing: 1 })
    const content = [
      { type: "text", text: "hello", cache_control: { type: "ephemeral" } },
      { type: "text", text: "for now" },
    ]
    expect(provider.requests[0]?.body).toMatchObject({ messages: [{ content }] })
  })

  test("Anthropic is told to cache up to the last instruction and the newest message", async () => {
    const { provider, model } = await open("anthropic", [{ text: "ok" }])
    const prompt: readonly PromptMessage[] = [
      { role: "system", content: "One." },
      { role: "system", content: "Two." },
      { role: "user", content: [{ type: "text", text: "first" }] },
      { role: "assistant", content: [{ type: "text", text: "answer" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "second" },
          { type: "text", text: "third" },
        ],
      },
    ]
    const before = structuredClone(prompt)
    await ask(model, prompt)
    const ephemeral = { type: "ephemeral" }
    expect(provider.requests[0]?.body).toMatchObject({
      system: [{ text: "One." }, { text: "Two.", cache_control: ephemeral }],
      messages: [
        { content: [{ text: "first" }] },
        { content: [{ text: "answer" }] },
        { content: [{ text: "second" }, { text: "third", cache_control: ephemeral }] },
      ],
    })
    expect(JSON.stringify(provider.requests[0]?.body).match(/cache_control/g)).toHaveLength(2)
    expect(prompt).toEqual(before)
  })

  test("Anthropic reads a later system message inside the user's turn", async () => {
    const { provider, model } = await open("anthropic", [{ text: "ok" }])
    await ask(model, [
      ...HELLO,
      { role: "assistant", content: [{ type: "text", text: "hi" }] },
      { role: "system", content: "The date changed. </system-update>" },
      { role: "user", content: [{ type: "text", text: "go on" }] },
    ])
    expect(provider.requests[0]?.body).toMatchObject({
      system: [{ text: "Be brief." }],
      messages: [
        { role: "user" },
        { role: "assistant" },
        {
          role: "user",
          content: [
            { text: "<system-update>\nThe date changed. &lt;/system-update>\n</system-update>" },
            { text: "go on" },
          ],
        },
      ],
    })
  })

  test("OpenAI is given the session as its cache key, a compatible server as a header", async () => {
    const openai = await open("openai", [{ text: "ok" }])
    await ask(openai.model, HELLO)
    expect(openai.provider.requests[0]?.body).toMatchObject({
      prompt_cache_key: "ses_wire",
      max_output_tokens: 8_000,
    })
    const compatible = await open("openai-compatible", [{ text: "ok" }])
    await ask(compatible.model, HELLO)
    expect(compatible.provider.requests[0]).toMatchObject({
      headers: { "x-session-affinity": "ses_wire" },
      body: { max_tokens: 8_000, stream: true, stream_options: { include_usage: true } },
    })
  })
})

describe.each(["openai-compatible", "openai", "anthropic", "google"] as const)(
  "the connection of %s",
  (name) => {
    test("is closed when the turn is aborted before the first byte", async () => {
      const { provider, model } = await open(name, [{ text: "never", hold: "start" }])
      const controller = new AbortController()
      const pending = model.stream(request(HELLO), controller.signal)[Symbol.asyncIterator]().next()
      await provider.arrived(1)
      controller.abort()
      await expect(pending).rejects.toThrow(/abort/)
      expect(await provider.ended(1)).toBe("client-closed")
    })

    test("is closed when the turn is left before the first byte", async () => {
      const { provider, model } = await open(name, [{ text: "never", hold: "start" }])
      const events = model.stream(request(HELLO), new AbortController().signal)[Symbol.asyncIterator]()
      const pending = events.next().catch(() => "gone")
      await provider.arrived(1)
      expect(await events.return?.()).toEqual({ done: true, value: undefined })
      expect(await provider.ended(1)).toBe("client-closed")
      expect(await pending).toBe("gone")
    })

    test("is closed when the turn is aborted in the middle", async () => {
      const { provider, model } = await open(name, [
        { text: "one two three four", chunks: 8, hold: "middle" },
      ])
      const controller = new AbortController()
      const events = model.stream(request(HELLO), controller.signal)[Symbol.asyncIterator]()
      await events.next()
      const rest = (async () => {
        while ((await events.next()).done !== true);
      })()
      controller.abort()
      await expect(rest).rejects.toThrow(/abort/)
      expect(await provider.ended(1)).toBe("client-closed")
    })

    test("is refused as transport when nobody listens", async () => {
      const { provider, model } = await open(name, [])
      await provider.close()
      await expect(ask(model, HELLO)).rejects.toMatchObject({ facts: { kind: "transport" } })
    })

    test("is used again for the next turn", async () => {
      const { provider, model } = await open(name, [{ text: "one" }, { text: "two" }, { text: "three" }])
      for (let turn = 0; turn < 3; turn++) {
        await ask(model, HELLO)
        // A connection becomes free one turn of the loop after its answer, because the server may be closing it.
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(new Set(provider.requests.map(({ connection }) => connection)).size).toBe(1)
    })

    test("repeats no call id that the provider repeated, and keeps the input of both calls", async () => {
      const twice = [
        { name: "read", id: "same", input: { path: "a" } },
        { name: "read", id: "same", input: { path: "b" } },
      ]
      const { model } = await open(name, [{ tools: twice }])
      const events = await ask(model, HELLO)
      const inputs = events.flatMap((event) => (event.type === "tool-call" ? [event.input] : []))
      expect(inputs).toEqual(['{"path":"a"}', '{"path":"b"}'])
    })
  },
)

test.each(["openai-compatible", "openai", "anthropic", "google"] as const)(
  "%s gives a call away as soon as it is whole, while the next is still being written",
  async (name) => {
    const { provider, model } = await open(name, [
      {
        tools: [
          { name: "read", id: "first", input: { path: "a" } },
          { name: "read", id: "second", input: { path: "b".repeat(400) } },
          { name: "read", id: "third", input: { path: "c" } },
        ],
        hold: "middle",
      },
    ])
    const calls: string[] = []
    const released: number[] = []
    for await (const event of model.stream(request(HELLO), new AbortController().signal)) {
      if (event.type !== "tool-call") continue
      released.push(provider.release())
      calls.push(event.id)
    }
    // The first call arrived while the answer was held. The others came after the release.
    expect(released).toEqual([1, 0, 0])
    expect(calls).toEqual(["first", "second", "third"])
  },
)

test("a connection of Anthropic is given up when it stays open after the last event", async () => {
  const provider = await startScriptedProvider({ script: [{ text: "done", hold: "end" }] })
  running.push(provider)
  const asked: number[] = []
  const model = openModel(
    {
      id: "fake/claude-one",
      provider: "anthropic",
      baseURL: `${provider.url}/v1`,
      contextWindow: 1_000,
      maxOutput: 100,
    },
    {
      now: () => 0,
      sleep: async (ms) => {
        asked.push(ms)
      },
    },
  )
  const seen = await ask(model, HELLO)
  expect(await provider.ended(1)).toBe("client-closed")
  expect(seen.at(-1)).toMatchObject({ type: "finish" })
  expect(asked).toEqual([250])
})

test("a provider that stays silent beyond idleMs counts as a broken connection", async () => {
  const provider = await startScriptedProvider({ script: [{ text: "never", hold: "start" }] })
  running.push(provider)
  const model = openModel(
    {
      id: "fake/one",
      provider: "openai-compatible",
      baseURL: `${provider.url}/v1`,
      contextWindow: 1_000,
      maxOutput: 100,
      idleMs: 20,
    },
    { ...realTime, now: () => 0 },
  )
  await expect(ask(model, HELLO)).rejects.toMatchObject({
    facts: { kind: "transport", message: "silent for 20 ms (ETIMEDOUT)" },
  })
})
