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
    systemInHistory: true,
    contextWindow: 1_000,
    maxOutput: 100,
    price,
    stream: expect.any(Function),
  })
})

test.each([
  [{ id: "" }, 'Model "" needs an id.'],
  [
    { provider: "bedrock" },
    'Model "local/one" has the provider "bedrock"; known are openai-compatible, openai, anthropic, google, scripted.',
  ],
  [{ contextWindow: 0 }, 'Model "local/one" needs a contextWindow: a whole number of tokens.'],
  [{ contextWindow: 1.5 }, 'Model "local/one" needs a contextWindow: a whole number of tokens.'],
  [{ maxOutput: -1 }, 'Model "local/one" needs a maxOutput: a whole number of tokens.'],
  [{ maxOutput: 1_001 }, 'Model "local/one" has a maxOutput beyond its contextWindow.'],
  [{ baseURL: undefined }, 'Model "local/one" needs a baseURL.'],
  [{ baseURL: "file:///etc" }, 'Model "local/one" has a baseURL that is no http or https address.'],
  [{ price: { input: -1, output: 1 } }, 'Model "local/one" has a price that is no number of dollars.'],
  [{ idleMs: 0 }, 'Model "local/one" has an idleMs that is no whole number of milliseconds.'],
  [{ maxOutput: 1_000 }, "none"],
])("%j is answered with %j", (change, expected) => {
  expect(problemOf(change)).toBe(expected)
})

test("the provider's name of a model is what stands behind the first slash", () => {
  expect(wireName(GOOD)).toBe("one")
  expect(wireName({ ...GOOD, id: "router/vendor/model" })).toBe("vendor/model")
  expect(wireName({ ...GOOD, id: "plain" })).toBe("plain")
  expect(wireName({ ...GOOD, model: "exact" })).toBe("exact")
})
