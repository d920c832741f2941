/** Settings on the four wires: the names that each provider gets, and which fields may not be replaced. */
import type { RequestSettings } from "@meridian/protocol"
import { startScriptedProvider } from "@meridian/testkit"
import { describe, expect, test } from "vitest"

import { realTime } from "../../../../test/real-time.ts"
import type { ModelConfig, ProviderName } from "./config.ts"
import { openModel } from "./open-model.ts"

type WireName = Exclude<ProviderName, "scripted">

const MODELS: Readonly<Record<WireName, string>> = {
  "openai-compatible": "local-one",
  openai: "gpt-4o",
  anthropic: "claude-sonnet-4-5",
  google: "gemini-2.0-flash",
}

/** The bodies that the provider got for these requests, in order. */
const bodiesOf = async (
  name: WireName,
  asked: readonly (RequestSettings | undefined)[],
  changes: Partial<ModelConfig> = {},
): Promise<readonly unknown[]> => {
  await using provider = await scripted()
  const config = { id: "fake/one", model: MODELS[name], contextWindow: 200_000, maxOutput: 8_000, ...changes }
  const address = { baseURL: `${provider.url}/v1`, apiKey: "sk-test-0123456789abcdef" }
  const model = openModel({ ...config, ...address, provider: name }, { ...realTime, now: () => 0 })
  for (const settings of asked) {
    const request = {
      sessionID: "ses_wire",
      prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
      tools: [{ name: "read", description: "Reads", input: { type: "object", properties: {} } }],
      ...(settings === undefined ? {} : { settings }),
    } as const
    const { signal } = new AbortController()
    const events: unknown[] = []
    for await (const event of model.stream(request, signal)) events.push(event)
    expect(events.length).toBeGreaterThan(0)
  }
  return provider.requests.map(({ body }) => body)
}

const scripted = async () => {
  const provider = await startScriptedProvider({ script: [] })
  return { ...provider, [Symbol.asyncDispose]: () => provider.close() }
}

const PLAIN = { temperature: 0.25, topP: 0.5, maxOutputTokens: 100 } as const

describe.each([
  ["openai-compatible", { temperature: 0.25, top_p: 0.5, max_tokens: 100 }],
  ["openai", { temperature: 0.25, top_p: 0.5, max_output_tokens: 100 }],
  // Its documentation says that it takes only one of the two, and the SDK omits the second.
  ["anthropic", { temperature: 0.25, max_tokens: 100 }],
  ["google", { generationConfig: { temperature: 0.25, topP: 0.5, maxOutputTokens: 100 } }],
] as const)("%s", (name, written) => {
  test("gets the settings under its own names, and none without any", async () => {
    const [with_, without] = await bodiesOf(name, [PLAIN, undefined])
    expect(with_).toMatchObject(written)
    expect(JSON.stringify(without)).not.toMatch(/temperature|top_?p/i)
  })

  test("gets its own options unchanged, joined with what we write", async () => {
    const options = { made_up: { deep: [1, "two"] }, generationConfig: { seed: 7 } }
    const [body, after] = await bodiesOf(name, [{ ...PLAIN, options }, undefined])
    expect(body).toMatchObject({ ...written, made_up: options.made_up })
    expect(body).toMatchObject(options)
    // Those settings belonged to one request.
    expect(JSON.stringify(after)).not.toMatch(/made_up|seed/)
  })

  test("gets no more output than the model has", async () => {
    const [body] = await bodiesOf(name, [{ maxOutputTokens: 1_000_000 }])
    expect(JSON.stringify(body)).toContain("8000")
  })
})

describe("effort", () => {
  test.each([
    ["openai-compatible", { reasoning_effort: "high" }, { reasoning_effort: "low" }],
    ["openai", { reasoning: { effort: "high" } }, { reasoning: { effort: "low" } }],
  ] as const)("%s: that of the request goes before the model's", async (name, first, second) => {
    const config = { model: name === "openai" ? "gpt-5" : "local-one", effort: "low" } as const
    const bodies = await bodiesOf(name, [{ effort: "high" }, undefined], config)
    expect(bodies).toMatchObject([first, second])
  })
})
