import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { expect, test } from "vitest"

import { isBrokenOff, openTranslator, usageOf } from "./events.ts"

const tokens = (input: object, output: object) => ({
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
    ...input,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined, ...output },
})

test.each([
  ["nothing told", {}, {}, [0, 0, 0, 0, 0]],
  ["totals only", { total: 10 }, { total: 5 }, [10, 5, 0, 0, 0]],
  [
    "totals with parts",
    { total: 100, cacheRead: 60, cacheWrite: 10 },
    { total: 50, reasoning: 20 },
    [30, 30, 20, 60, 10],
  ],
  [
    "everything",
    { total: 100, noCache: 30, cacheRead: 60, cacheWrite: 10 },
    { total: 50, text: 30, reasoning: 20 },
    [30, 30, 20, 60, 10],
  ],
  ["parts beyond the total", { total: 10, cacheRead: 60 }, { total: 5, reasoning: 9 }, [0, 0, 9, 60, 0]],
  ["no numbers", { total: Number.NaN, noCache: -4 }, { total: Infinity }, [0, 0, 0, 0, 0]],
])(
  "usage with %s never overlaps and is never negative",
  (_name, input, output, [fresh, text, thought, read, write]) => {
    expect(usageOf(tokens(input, output))).toEqual({
      input: fresh,
      output: text,
      reasoning: thought,
      cacheRead: read,
      cacheWrite: write,
    })
  },
)

const translateAll = (parts: readonly LanguageModelV4StreamPart[]) => {
  const translate = openTranslator()
  return parts.map(translate)
}

test("the end of a block carries everything its provider said of it, the latest last", () => {
  const events = translateAll([
    { type: "reasoning-start", id: "r", providerMetadata: { openai: { itemId: "rs_1", encrypted: null } } },
    { type: "reasoning-start", id: "other", providerMetadata: { openai: { itemId: "rs_2" } } },
    { type: "reasoning-delta", id: "r", delta: "", providerMetadata: { anthropic: { signature: "s" } } },
    { type: "reasoning-end", id: "r", providerMetadata: { openai: { encrypted: "e" } } },
    { type: "reasoning-end", id: "other" },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-end", id: "r" },
  ])
  expect(events[3]).toEqual({
    type: "reasoning-end",
    id: "r",
    metadata: { openai: { itemId: "rs_1", encrypted: "e" }, anthropic: { signature: "s" } },
  })
  expect(events[4]).toEqual({ type: "reasoning-end", id: "other", metadata: { openai: { itemId: "rs_2" } } })
  expect(events[6]).toEqual({ type: "reasoning-end", id: "r" })
})

test("hosted calls and results keep separate metadata; a preliminary result does not count", () => {
  const result = { type: "tool-result", toolCallId: "t", toolName: "search", result: { found: 1 } } as const
  expect(
    translateAll([
      {
        type: "tool-call",
        toolCallId: "t",
        toolName: "search",
        input: "{}",
        providerExecuted: true,
        providerMetadata: { p: { side: "call" } },
      },
      { ...result, preliminary: true },
      { ...result, providerMetadata: { p: { side: "result" } } },
      { ...result, isError: true },
    ]),
  ).toEqual([
    {
      type: "tool-call",
      id: "t",
      name: "search",
      input: "{}",
      providerExecuted: true,
      metadata: { p: { side: "call" } },
    },
    undefined,
    {
      type: "tool-result",
      id: "t",
      name: "search",
      result: { found: 1 },
      isError: false,
      metadata: { p: { side: "result" } },
    },
    { type: "tool-result", id: "t", name: "search", result: { found: 1 }, isError: true },
  ])
})

test("what says nothing to a session is passed over", () => {
  expect(
    translateAll([
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "x" },
      { type: "ping" },
      { type: "raw", rawValue: 1 },
      { type: "source", sourceType: "url", id: "s", url: "https://example.org" },
    ]),
  ).toEqual([undefined, undefined, undefined, undefined, undefined])
})

test("an interrupted finish is a stream that broke off", () => {
  const finish = (unified: "stop" | "interrupted") =>
    ({ type: "finish", usage: tokens({}, {}), finishReason: { unified, raw: undefined } }) as const
  expect([isBrokenOff(finish("stop")), isBrokenOff(finish("interrupted"))]).toEqual([false, true])
})
