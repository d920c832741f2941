/** Compares our reading of a Chat Completions stream with the AI SDK's: the same bytes must give the same parts. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { COMPATIBLE_NAME, loadCompatibleModel, type StreamingModel } from "./compatible-model.ts"
import type { Fetch } from "./http-fetch.ts"

const baseURL = "http://127.0.0.1:9/v1"
const PROMPT = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }]

/** A server that answers every request with this text. */
const answering =
  (text: string): Fetch =>
  async () =>
    new Response(text, { headers: { "content-type": "text/event-stream" } })

const wire = (chunks: readonly unknown[]): string =>
  [...chunks.map((chunk) => (typeof chunk === "string" ? chunk : JSON.stringify(chunk))), "[DONE]"]
    .map((data) => `data: ${data}\n\n`)
    .join("")

/** A call that never gets a name breaks the stream. That is an outcome too. */
const partsOf = async (model: StreamingModel): Promise<readonly LanguageModelV4StreamPart[]> => {
  const { stream } = await model.doStream({ prompt: PROMPT })
  const reader = stream.getReader()
  const parts: LanguageModelV4StreamPart[] = []
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value)
  } catch {
    parts.push({ type: "error", error: "threw" })
  }
  return parts
}

/** We release a call as soon as it is whole. The order of its own parts stays the same. */
const callByCall = (parts: readonly LanguageModelV4StreamPart[]): readonly LanguageModelV4StreamPart[] => {
  const error = parts.findIndex(({ type }) => type === "error")
  const heard = error === -1 ? parts : parts.slice(0, error + 1)
  const idOf = (part: LanguageModelV4StreamPart): string | undefined =>
    part.type === "tool-call"
      ? part.toolCallId
      : part.type.startsWith("tool-input") && "id" in part
        ? part.id
        : undefined
  const calls = Map.groupBy(
    heard.filter((part) => idOf(part) !== undefined),
    idOf,
  )
  return [...[...calls.values()].flat(), ...heard.filter((part) => idOf(part) === undefined)]
}

/** What a turn can see of a part. Generated ids only have to differ from each other. */
const essence = (parts: readonly LanguageModelV4StreamPart[]): readonly unknown[] => {
  const made = new Map<string, string>()
  const idOf = (id: string): string => {
    if (!/^[\dA-Za-z]{16}$/.test(id)) return id
    const known = made.get(id) ?? `made-${made.size}`
    made.set(id, known)
    return known
  }
  const essential: unknown[] = []
  for (const part of callByCall(parts)) {
    if (part.type === "stream-start" || part.type === "response-metadata") continue
    // An empty piece has no effect.
    if (part.type === "tool-input-delta" && part.delta === "") continue
    // We end a text before the calls that follow it.
    if (part.type === "text-start" || part.type === "text-end") continue
    if (part.type === "error") {
      essential.push({ type: "error" })
      return essential // the turn ends here
    }
    if (part.type === "finish") {
      const { inputTokens, outputTokens } = part.usage
      const zero = (tokens: object): object =>
        Object.fromEntries(Object.entries(tokens).map(([name, value]) => [name, value ?? 0]))
      essential.push({ ...part, usage: { input: zero(inputTokens), output: zero(outputTokens) } })
    } else if ("toolCallId" in part) essential.push({ ...part, toolCallId: idOf(part.toolCallId) })
    else if ("id" in part && typeof part.id === "string") essential.push({ ...part, id: idOf(part.id) })
    else essential.push(part)
  }
  return essential
}

const compare = async (text: string): Promise<{ ours: readonly unknown[]; theirs: readonly unknown[] }> => {
  const fetch: Fetch = answering(text)
  const config = {
    id: "x/one",
    provider: "openai-compatible" as const,
    baseURL,
    contextWindow: 9,
    maxOutput: 9,
  }
  const ours = await loadCompatibleModel(config, fetch)
  const theirs = createOpenAICompatible({ name: COMPATIBLE_NAME, baseURL, fetch, includeUsage: true })("one")
  return { ours: essence(await partsOf(ours)), theirs: essence(await partsOf(theirs)) }
}

const delta = (fields: object, finish: string | null = null) => ({
  id: "c",
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
const call = (fields: object) => delta({ tool_calls: [fields] })
const STOP = delta({}, "stop")
const CALLS = delta({}, "tool_calls")
const USAGE = {
  id: "c",
  choices: [],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 5 },
  },
}

const CASES: Readonly<Record<string, readonly unknown[]>> = {
  text: [
    delta({ role: "assistant", content: "" }),
    delta({ content: "a" }),
    delta({ content: "b" }),
    STOP,
    USAGE,
  ],
  "text with the finish in its last piece": [delta({ content: "a" }), delta({ content: "b" }, "length")],
  "reasoning under one name": [delta({ reasoning_content: "r" }), delta({ content: "a" }), STOP],
  "reasoning under the other name": [delta({ reasoning: "r" }), delta({ content: "a" }), STOP],
  "reasoning after text": [delta({ content: "a" }), delta({ reasoning: "r" }), delta({ content: "b" }), STOP],
  "content in parts": [
    delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "r" }] }] }),
    delta({
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "" },
      ],
    }),
    STOP,
  ],
  refusal: [delta({ refusal: "I can" }), delta({ refusal: "not" }), STOP],
  "a filter": [delta({ content: "a" }), delta({}, "content_filter")],
  "an unknown reason": [delta({ content: "a" }), delta({}, "eos_token")],
  "one call in pieces": [
    call({ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }),
    call({ index: 0, function: { arguments: '{"path"' } }),
    call({ index: 0, function: { arguments: ':"a"}' } }),
    CALLS,
  ],
  "two calls, interleaved": [
    call({ index: 0, id: "c1", function: { name: "read", arguments: '{"a":' } }),
    call({ index: 1, id: "c2", function: { name: "read", arguments: '{"b":' } }),
    call({ index: 0, function: { arguments: "1}" } }),
    call({ index: 1, function: { arguments: "2}" } }),
    CALLS,
  ],
  "two calls with one id": [
    call({ index: 0, id: "same", function: { name: "read", arguments: "{}" } }),
    call({ index: 1, id: "same", function: { name: "read", arguments: "{}" } }),
    CALLS,
  ],
  "a call whose name comes late": [
    call({ index: 0, id: "c1", function: { arguments: '{"a"' } }),
    call({ index: 0, function: { name: "read", arguments: ":1}" } }),
    CALLS,
  ],
  "a call without an index": [call({ id: "c1", function: { name: "read", arguments: '{"a":1}' } }), CALLS],
  "a call without an id": [call({ index: 0, function: { name: "read", arguments: '{"a":1}' } }), CALLS],
  "a call with a signature": [
    call({
      index: 0,
      id: "c1",
      function: { name: "read", arguments: "{}" },
      extra_content: { google: { thought_signature: "sig" } },
    }),
    CALLS,
  ],
  "arguments that are no JSON": [
    call({ index: 0, id: "c1", function: { name: "read", arguments: '{"a' } }),
    CALLS,
  ],
  "a call after reasoning": [
    delta({ reasoning: "r" }),
    call({ index: 0, id: "c1", function: { name: "read", arguments: "{}" } }),
    CALLS,
  ],
  "an error in the stream": [
    delta({ content: "a" }),
    { error: { message: "no", type: "server_error", code: 500 } },
  ],
  "an event that is no JSON": [delta({ content: "a" }), "{not json", STOP],
  "a chunk without choices": [delta({ content: "a" }), { id: "c" }, STOP],
  "no finish": [delta({ content: "a" })],
  nothing: [],
}

test.each(Object.entries(CASES))("reads %s as the SDK does", async (_name, chunks) => {
  const { ours, theirs } = await compare(wire(chunks))
  expect(ours).toEqual(theirs)
})

const text = fc.string({ maxLength: 5 })
/** No object ever ends here, so no call is whole before the answer is, for us as for the SDK. */
const argument = text.map((some) => some.replaceAll("}", "]"))
const index = fc.constantFrom(0, 1)
const anyChunk = fc.oneof(
  text.map((content) => delta({ content })),
  text.map((reasoning_content) => delta({ reasoning_content })),
  text.map((refusal) => delta({ refusal })),
  fc
    .tuple(index, fc.constantFrom("a", "b"), argument)
    .map(([at, name, args]) => call({ index: at, id: `id-${at}`, function: { name, arguments: args } })),
  fc.tuple(index, argument).map(([at, args]) => call({ index: at, function: { arguments: args } })),
  fc.constantFrom("stop", "length", "tool_calls").map((finish) => delta({}, finish)),
  fc.constant(USAGE),
)

/** A call whose beginning arrives twice. */
const twice = (args: string) => call({ index: 0, id: "id-0", function: { name: "b", arguments: args } })

test("reads any sequence of chunks as the SDK does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyChunk, { maxLength: 12 }), async (chunks) => {
      const { ours, theirs } = await compare(wire([...chunks, STOP]))
      expect(ours).toEqual(theirs)
    }),
    { numRuns: 300, examples: [[[twice("{#]"), twice("")]]] },
  )
})

/** The kinds of parts in order, with the call each belongs to. */
const orderOf = async (chunks: readonly unknown[]): Promise<readonly string[]> => {
  const config = {
    id: "x/one",
    provider: "openai-compatible",
    baseURL,
    contextWindow: 9,
    maxOutput: 9,
  } as const
  const parts = await partsOf(await loadCompatibleModel(config, answering(wire(chunks))))
  return parts.flatMap((part) => {
    if (part.type === "tool-call") return [`call ${part.toolCallId} ${part.input}`]
    return part.type === "tool-input-start" ? [`start ${part.id}`] : part.type === "finish" ? ["finish"] : []
  })
}

const start = (at: number, args: string) =>
  call({ index: at, id: `c${at}`, function: { name: "read", arguments: args } })
const more = (at: number, args: string) => call({ index: at, function: { arguments: args } })

test.each([
  [
    "one whose object is whole",
    [start(0, '{"a"'), more(0, ':"}"}'), start(1, '{"b":1}')],
    ["start c0", 'call c0 {"a":"}"}', "start c1", 'call c1 {"b":1}', "finish"],
  ],
  [
    "an empty one when the next begins",
    [start(0, "{}"), start(1, '{"b":1}')],
    ["start c0", "call c0 {}", "start c1", 'call c1 {"b":1}', "finish"],
  ],
  [
    "an empty one that was not the input",
    [start(0, "{}"), more(0, '{"a":1}')],
    ["start c0", 'call c0 {}{"a":1}', "finish"],
  ],
  [
    "both of two that are interleaved",
    [start(0, '{"a":'), start(1, '{"b":'), more(0, "1}"), more(1, "2}")],
    ["start c0", "start c1", 'call c0 {"a":1}', 'call c1 {"b":2}', "finish"],
  ],
  [
    "one that is no object at the end",
    [start(0, '["a"]'), start(1, '{"b":1}')],
    ["start c0", "start c1", 'call c0 ["a"]', 'call c1 {"b":1}', "finish"],
  ],
  [
    "one that never ends at the end",
    [start(0, '{"a": [1, {"b": "\\"'), start(1, '{"b":1}')],
    ["start c0", "start c1", 'call c0 {"a": [1, {"b": "\\"', 'call c1 {"b":1}', "finish"],
  ],
] as const)("lets a call go early: %s", async (_name, chunks, expected) => {
  expect(await orderOf([...chunks, CALLS])).toEqual(expected)
})
