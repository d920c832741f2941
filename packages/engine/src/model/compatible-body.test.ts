import { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible"
import { convertToOpenAICompatibleChatMessages } from "@ai-sdk/openai-compatible/internal"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import type { PromptMessage } from "../port/model.ts"
import { openBodyWriter, type Body, type Converters } from "./compatible-body.ts"
import { asSdkPrompt } from "./provider-model.ts"

const FIXED = { stream: true }
const model = new OpenAICompatibleChatLanguageModel("one", {
  provider: "compatible",
  url: () => "",
  headers: {},
})
const names = { provider: "compatible", providerOptionsKey: "compatible" }
const sdk: Converters = {
  convert: (prompt) => convertToOpenAICompatibleChatMessages(prompt, names),
  prepare: (options) => model.prepareRequest(options),
}
const tools = [
  { type: "function" as const, name: "read", description: "Reads", inputSchema: { type: "object" as const } },
]
const optionsOf = (prompt: readonly PromptMessage[]) => ({
  prompt: asSdkPrompt(prompt),
  tools,
  maxOutputTokens: 7,
})

/** The body that the SDK would send. */
const expectedOf = async (prompt: readonly PromptMessage[]): Promise<string> =>
  JSON.stringify({ ...(await sdk.prepare(optionsOf(prompt))).body, ...FIXED })

const text = fc.string({ maxLength: 8 })
const id = fc.constantFrom("a", "b", "c")
const anyMessage: fc.Arbitrary<PromptMessage> = fc.oneof(
  text.map((content) => ({ role: "system" as const, content })),
  fc
    .array(
      text.map((value) => ({ type: "text" as const, text: value })),
      { maxLength: 3 },
    )
    .map((content) => ({
      role: "user" as const,
      content,
    })),
  fc.tuple(text, text, fc.array(id, { maxLength: 2 })).map(([said, thought, calls]): PromptMessage => ({
    role: "assistant",
    content: [
      { type: "reasoning", text: thought },
      { type: "text", text: said },
      ...calls.map((toolCallId) => ({
        type: "tool-call" as const,
        toolCallId,
        toolName: "read",
        input: { said },
      })),
    ],
  })),
  fc.array(fc.tuple(id, text), { maxLength: 3 }).map((results): PromptMessage => ({
    role: "tool",
    content: results.map(([toolCallId, value]) => ({
      type: "tool-result",
      toolCallId,
      toolName: "read",
      output: { type: "text", value },
    })),
  })),
)

/** Equal except for the order of fields, which no server cares about. */
const sameRequest = (ours: Body, theirs: string): void => {
  const sent = Buffer.concat(ours).toString()
  // eslint-disable-next-line eslint/no-restricted-properties -- our own text, compared as a value
  expect(JSON.parse(sent)).toEqual(JSON.parse(theirs))
}

test("any prompt is written as the SDK would, the first time and every time it has grown", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMessage, { maxLength: 8 }),
      fc.array(anyMessage, { maxLength: 3 }),
      async (prompt, more) => {
        const write = openBodyWriter(sdk, FIXED)
        const grown = [...prompt, ...more]
        for (const one of [prompt, grown, grown.slice(3)])
          sameRequest(await write(optionsOf(one)), await expectedOf(one))
      },
    ),
    { numRuns: 100 },
  )
})

const user = (n: number): PromptMessage => ({
  role: "user",
  content: [{ type: "text", text: `message ${n}` }],
})

test("only what is new is converted", async () => {
  const converted: number[] = []
  const convert: Converters["convert"] = (prompt) => {
    converted.push(prompt.length)
    return sdk.convert(prompt)
  }
  const write = openBodyWriter({ ...sdk, convert }, FIXED)
  const prompt = Array.from({ length: 5 }, (_, n) => user(n))
  await write(optionsOf(prompt))
  const longer = [...prompt, user(101), user(102)]
  await write(optionsOf(longer))
  await write(optionsOf(longer))
  expect(converted).toEqual([5, 2])
})

test("what was given out stays unchanged when the conversation continues", async () => {
  const write = openBodyWriter(sdk, FIXED)
  const prompt = Array.from({ length: 20 }, (_, n) => user(n))
  const first = await write(optionsOf(prompt))
  for (let length = 1; length < 50; length += 7) {
    const grown = [...prompt, ...Array.from({ length }, (_, n) => user(1_000 + n))]
    sameRequest(await write(optionsOf(grown)), await expectedOf(grown))
    sameRequest(first, await expectedOf(prompt))
  }
})

test("a different beginning, other tools and another bound are written correctly", async () => {
  const write = openBodyWriter(sdk, FIXED)
  const prompt = Array.from({ length: 20 }, (_, n) => user(n))
  await write(optionsOf(prompt))
  const other = [user(100), ...prompt.slice(1)]
  sameRequest(await write(optionsOf(other)), await expectedOf(other))
  const changed = { ...optionsOf(prompt), tools: [], maxOutputTokens: 8 }
  sameRequest(await write(changed), JSON.stringify({ ...(await sdk.prepare(changed)).body, ...FIXED }))
})
