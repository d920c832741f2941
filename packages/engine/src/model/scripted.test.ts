/** What only the in-process scripted model does. What it shares with the others is in `model-contract.test.ts`. */
import { expect, test } from "vitest"

import { realTime } from "../../../../test/real-time.ts"
import type { ModelEvent, ModelRequest } from "../port/model.ts"
import { openModel, type OpenModelOptions } from "./open-model.ts"
import type { ScriptRequest, ScriptStep, Respond } from "./script.ts"

const open = (script: readonly ScriptStep[] | Respond, options: Partial<OpenModelOptions> = {}) =>
  openModel(
    { id: "scripted/one", provider: "scripted", contextWindow: 1_000, maxOutput: 100, script },
    { ...realTime, now: () => 0, ...options },
  )

const REQUEST: ModelRequest = {
  sessionID: "ses_1",
  prompt: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "a note" },
        { type: "text", text: "the question" },
      ],
    },
  ],
  tools: [],
}

const collect = async (model: ReturnType<typeof open>): Promise<readonly ModelEvent[]> => {
  const events: ModelEvent[] = []
  for await (const event of model.stream(REQUEST, new AbortController().signal)) events.push(event)
  return events
}

test("a function sees what was asked and answers it", async () => {
  const seen: ScriptRequest[] = []
  const model = open(async (request) => {
    seen.push(request)
    return { text: `answer ${request.n}` }
  })
  expect(await collect(model)).toEqual([
    { type: "text-start", id: "text_1_0" },
    { type: "text-delta", id: "text_1_0", delta: "answer 1" },
    { type: "text-end", id: "text_1_0" },
    {
      type: "finish",
      reason: "stop",
      usage: { input: 10, output: 5, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    },
  ])
  expect(seen).toEqual([
    {
      n: 1,
      api: "inside",
      model: "one",
      system: "Be brief.",
      lastUser: "a note\nthe question",
      lastText: "the question",
      body: REQUEST,
    },
  ])
})

test("without a script it echoes the person", async () => {
  expect(await collect(open([]))).toContainEqual({
    type: "text-delta",
    id: "text_1_0",
    delta: "echo: the question",
  })
})

test("call and result of a hosted tool carry separate metadata", async () => {
  const events = await collect(open([{ hosted: [{ query: "q", results: [{ url: "https://a.example" }] }] }]))
  expect(events.slice(0, 2)).toEqual([
    {
      type: "tool-call",
      id: "hosted_1_0",
      name: "web_search",
      input: '{"query":"q"}',
      providerExecuted: true,
      metadata: { scripted: { side: "call", id: "hosted_1_0" } },
    },
    {
      type: "tool-result",
      id: "hosted_1_0",
      name: "web_search",
      result: [{ url: "https://a.example", title: "https://a.example" }],
      isError: false,
      metadata: { scripted: { side: "result", id: "hosted_1_0" } },
    },
  ])
})

test("reasoning ends with its signature", async () => {
  const events = await collect(
    open([{ reasoning: { text: "hm", signature: "s", encrypted: "e", id: "rs" } }]),
  )
  expect(events).toContainEqual({
    type: "reasoning-end",
    id: "rs",
    metadata: { scripted: { signature: "s", encrypted: "e" } },
  })
})

test("delays are slept through the sleep it is given", async () => {
  const slept: number[] = []
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms)
  }
  await collect(open([{ text: "abcd", chunks: 2, delayMs: 500, chunkMs: 20 }], { sleep }))
  expect(slept).toEqual([500, 20, 20])
})

test("an abort ends a delay", async () => {
  const controller = new AbortController()
  const model = open([{ text: "never", delayMs: 600_000 }])
  const pending = model.stream(REQUEST, controller.signal)[Symbol.asyncIterator]().next()
  controller.abort("enough")
  await expect(pending).rejects.toBe("enough")
})

test("nothing comes after an abort", async () => {
  const controller = new AbortController()
  const seen: string[] = []
  const reading = async (): Promise<void> => {
    for await (const event of open([{ text: "abcdef", chunks: 6 }]).stream(REQUEST, controller.signal)) {
      seen.push(event.type)
      if (event.type === "text-delta") controller.abort("enough")
    }
  }
  await expect(reading()).rejects.toBe("enough")
  expect(seen).toEqual(["text-start", "text-delta"])
})

test("parts play in their own order, an error among them ends the stream", async () => {
  const seen: string[] = []
  const model = open([
    {
      parts: [
        { type: "text", text: "first" },
        { type: "tool", name: "read", input: {} },
        { type: "text", text: "second" },
        { type: "error", error: "overloaded" },
        { type: "text", text: "never" },
      ],
    },
  ])
  const reading = async (): Promise<void> => {
    for await (const event of model.stream(REQUEST, new AbortController().signal))
      if (event.type === "text-delta" || event.type === "tool-call") seen.push(event.type)
  }
  await expect(reading()).rejects.toMatchObject({ facts: { kind: "overloaded" } })
  expect(seen).toEqual(["text-delta", "tool-call", "text-delta"])
})
