import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import { realTime } from "../../../../test/real-time.ts"
import { wireName, type ModelConfig } from "./config.ts"
import { openModel } from "./open-model.ts"

const GOOD: ModelConfig = {
  id: "local/one",
  provider: "openai-compatible",
  baseURL: "http://127.0.0.1:9/v1",
  contextWindow: 1_000,
  maxOutput: 100,
}

const problemOf = (change: object): string => {
  try {
    openModel({ ...GOOD, ...change }, { ...realTime, now: () => 0 })
  } catch (error) {
    if (error instanceof Failure && error.code === "INVALID_INPUT") return error.message
    throw error
  }
  return "none"
}

test("a model is opened without touching the network", () => {
  const price = { input: 1, output: 2 }
  expect(openModel({ ...GOOD, price }, { ...realTime, now: () => 0 })).toEqual({
    id: "local/one",
    family: "other",
    answersBySchema: false,
    systemInHistory: true,
    contextWindow: 1_000,
    maxOutput: 100,
    price,
    stream: expect.any(Function),
  })
})

test.each([
  [{ id: "" }, 'Model "": `id` must be text that is not empty, not empty.'],
  [
    { provider: "bedrock" },
    'Model "local/one": `provider` must be one of openai-compatible, openai, anthropic, google, scripted, not "bedrock".',
  ],
  [
    { contextWindow: 0 },
    'Model "local/one": `contextWindow` must be a whole number from 1 to 9007199254740991, not 0.',
  ],
  [
    { contextWindow: 1.5 },
    'Model "local/one": `contextWindow` must be a whole number from 1 to 9007199254740991, not 1.5.',
  ],
  [
    { maxOutput: -1 },
    'Model "local/one": `maxOutput` must be a whole number from 1 to 9007199254740991, not -1.',
  ],
  [{ maxOutput: 1_001 }, 'Model "local/one": `maxOutput` is beyond its `contextWindow`.'],
  [{ baseURL: undefined }, 'Model "local/one": `baseURL` is missing.'],
  [{ baseURL: "file:///etc" }, 'Model "local/one": `baseURL` must be an http or https address, not text.'],
  [
    { price: { input: -1, output: 1 } },
    'Model "local/one": `price.input` must be a number of at least 0, not -1.',
  ],
  [{ idleMs: 0 }, 'Model "local/one": `idleMs` must be a whole number from 1 to 9007199254740991, not 0.'],
  [{ maxOutput: 1_000 }, "none"],
])("%j is answered with %j", (change, expected) => {
  expect(problemOf(change)).toBe(expected)
})

test("the provider's name of a model is the part after the first slash", () => {
  expect(wireName(GOOD)).toBe("one")
  expect(wireName({ ...GOOD, id: "router/vendor/model" })).toBe("vendor/model")
  expect(wireName({ ...GOOD, id: "plain" })).toBe("plain")
  expect(wireName({ ...GOOD, model: "exact" })).toBe("exact")
})
