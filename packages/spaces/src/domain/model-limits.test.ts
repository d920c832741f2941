import { expect, test } from "vitest"

import { mergeLimits, parseLimits, readModelsDev, renderLimits } from "./model-limits.ts"
import { MODEL_SNAPSHOT } from "./model-snapshot.ts"
import { PROVIDER_PRESETS } from "./provider-preset.ts"

const API = {
  acme: {
    id: "acme",
    models: {
      "big-1": {
        limit: { context: 200_000, output: 64_000 },
        cost: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
        modalities: { output: ["text"] },
      },
      "org/small": { limit: { context: 8_000, output: 16_000 } },
      "half-priced": { limit: { context: 1_000, output: 500 }, cost: { input: 1 } },
      painter: { limit: { context: 1_000, output: 1_000 }, modalities: { output: ["image"] } },
      mute: { limit: { context: 1_000, output: 1_000 }, tool_call: false },
      old: { limit: { context: 1_000, output: 1_000 }, status: "deprecated" },
      endless: { limit: { context: 0, output: 1_000 } },
      "with space": { limit: { context: 1_000, output: 1_000 } },
    },
  },
  broken: { models: [] },
  worse: 7,
}

const BIG = {
  id: "acme/big-1",
  contextWindow: 200_000,
  maxOutput: 64_000,
  price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
}

test("models that write text and call tools are read from models.dev's form, with their known limits and prices", () => {
  expect(readModelsDev(API)).toEqual([
    BIG,
    { id: "acme/org/small", contextWindow: 8_000, maxOutput: 8_000 },
    { id: "acme/half-priced", contextWindow: 1_000, maxOutput: 500 },
  ])
})

test.each([[[]], [{}], ["text"], [null], [{ acme: { models: {} } }]])(
  "%j is not a list of models",
  (value) => {
    expect(readModelsDev(value)).toBeUndefined()
  },
)

test("20,000 models are believed, one more is not", () => {
  const many = (count: number) => ({
    acme: {
      models: Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`m${n}`, { limit: { context: 9, output: 9 } }]),
      ),
    },
  })
  expect(readModelsDev(many(20_000))).toHaveLength(20_000)
  expect(readModelsDev(many(20_001))).toBeUndefined()
})

test("a written catalogue is read back the same, and missing prices stay missing", () => {
  const models = readModelsDev(API) ?? []
  const only = {
    id: "acme/read",
    contextWindow: 9,
    maxOutput: 9,
    price: { input: 1, output: 2, cacheWrite: 4 },
  }
  const text = renderLimits([...models, only], { date: "2026-11-15", origin: "https://models.dev/api.json" })
  const back = parseLimits(text)
  expect([back.date, back.origin]).toEqual(["2026-11-15", "https://models.dev/api.json"])
  expect([...back.models.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1))).toEqual(
    [...models, only].toSorted((left, right) => (left.id < right.id ? -1 : 1)),
  )
})

test("damaged lines are left out and the rest counts", () => {
  const text = "# models x\nacme/a 100 50 1 2\nnonsense\nacme/b many 5\nacme/c 10 0\nacme/d 10 5 -1 2\n\0\n"
  expect([...parseLimits(text).models.values()]).toEqual([
    { id: "acme/a", contextWindow: 100, maxOutput: 50, price: { input: 1, output: 2 } },
    { id: "acme/d", contextWindow: 10, maxOutput: 5 },
  ])
})

test("a newer catalogue wins over the bundled one, and an older or empty one does not", () => {
  const bundled = parseLimits("# models 2026-11-02 bundled\nacme/a 100 50\nacme/b 100 50\n")
  const kept = (date: string, lines: string) => parseLimits(`# models ${date} there\n${lines}`)
  const newer = mergeLimits(bundled, kept("2026-11-15", "acme/a 200 50\n"))
  expect([...newer.models.values()].map(({ id, contextWindow }) => [id, contextWindow])).toEqual([
    ["acme/a", 200],
    ["acme/b", 100],
  ])
  expect(mergeLimits(bundled, kept("2026-11-01", "acme/a 200 50\n"))).toBe(bundled)
  expect(mergeLimits(bundled, kept("2026-11-15", ""))).toBe(bundled)
  expect(mergeLimits(bundled, undefined)).toBe(bundled)
})

test("the bundled snapshot is whole: every line is a model, and every preferred model's provider is there", () => {
  const { date, models } = parseLimits(MODEL_SNAPSHOT)
  expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
  expect(models.size).toBe(MODEL_SNAPSHOT.trim().split("\n").length - 1)
  const missing = Object.entries(PROVIDER_PRESETS).filter(
    ([name, { preferred = [] }]) =>
      preferred.length > 0 && !preferred.some((model) => models.has(`${name}/${model}`)),
  )
  expect(missing).toEqual([])
})
