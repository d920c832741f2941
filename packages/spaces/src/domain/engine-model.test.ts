import { parse } from "smol-toml"
import { describe, expect, test } from "vitest"

import { keyLines } from "./config-text.ts"
import { findEngineModel, listEngineModels, type EngineFacts } from "./engine-model.ts"
import { parseLimits } from "./model-limits.ts"
import { PROVIDER_PRESETS } from "./provider-preset.ts"
import { readProviderTables } from "./provider-table.ts"

const LIMITS = parseLimits(`
anthropic/claude-haiku-4-5 200000 64000 1 5 0.1 1.25
anthropic/claude-sonnet-4-6 1000000 128000 3 15
openai/gpt-5.2 400000 128000 1.75 14
google/gemini-2.5-pro 1048576 65536 1.25 10
openrouter/anthropic/claude-sonnet-4.6 1000000 64000 3 15
groq/small 8192 131072
`).models

const facts = (
  env: Record<string, string> = {},
  text = "",
  source: "file" | "user-config" = "file",
): EngineFacts => {
  const file = { path: "config.toml", source, tree: parse(text), lines: keyLines(text) }
  const { tables, wrong } = readProviderTables([file])
  expect(wrong).toEqual([])
  return { tables, env, limits: LIMITS }
}

const usable = (given: EngineFacts): readonly string[] => listEngineModels(given).usable.map(({ id }) => id)
const whyNot = (given: EngineFacts, id: string): string | undefined =>
  listEngineModels(given).unusable.find((row) => row.id === id)?.why
const connectionOf = (given: EngineFacts, id: string) => {
  const found = findEngineModel(id, given)
  return found.tag === "usable" ? found.model.connection : found.why
}

describe("without any configuration", () => {
  test("nothing is usable, and each known provider says what is missing", () => {
    expect(listEngineModels(facts())).toEqual({
      usable: [],
      unusable: [
        { id: "anthropic/*", why: "set ANTHROPIC_API_KEY", count: 2 },
        { id: "openai/*", why: "set OPENAI_API_KEY", count: 1 },
        { id: "google/*", why: "set GEMINI_API_KEY", count: 1 },
        { id: "openrouter/*", why: "set OPENROUTER_API_KEY", count: 1 },
        { id: "ollama/*", why: "no address: set OLLAMA_HOST or providers.ollama.base_url", count: 0 },
        { id: "lmstudio/*", why: "no address: set providers.lmstudio.base_url", count: 0 },
        { id: "vllm/*", why: "no address: set providers.vllm.base_url", count: 0 },
      ],
    })
  })

  test.each([
    ["ANTHROPIC_API_KEY", ["anthropic/claude-sonnet-4-6", "anthropic/claude-haiku-4-5"]],
    ["OPENAI_API_KEY", ["openai/gpt-5.2"]],
    ["GEMINI_API_KEY", ["google/gemini-2.5-pro"]],
    ["GOOGLE_API_KEY", ["google/gemini-2.5-pro"]],
    ["GOOGLE_GENERATIVE_AI_API_KEY", ["google/gemini-2.5-pro"]],
    ["OPENROUTER_API_KEY", ["openrouter/anthropic/claude-sonnet-4.6"]],
    ["GROQ_API_KEY", ["groq/small"]],
  ])("%s alone makes its models usable, the preferred one first", (name, expected) => {
    expect(usable(facts({ [name]: "secret" }))).toEqual(expected)
    expect(usable(facts({ [name]: "" }))).toEqual([])
    expect(usable(facts({ [name]: " \n" }))).toEqual([])
  })

  test("the usual address variables move a provider, and a bare host gets its version", () => {
    const env = { ANTHROPIC_API_KEY: "x", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" }
    expect(connectionOf(facts(env), "anthropic/any")).toEqual({
      kind: "anthropic",
      address: "http://127.0.0.1:1/v1",
      key: { tag: "variable", name: "ANTHROPIC_API_KEY" },
      headers: {},
    })
    expect(whyNot(facts({ ...env, ANTHROPIC_BASE_URL: "nowhere" }), "anthropic/*")).toBe(
      "ANTHROPIC_BASE_URL is no address",
    )
  })

  test("OLLAMA_HOST is an address without models until some are named", () => {
    const env = { OLLAMA_HOST: "localhost" }
    expect(whyNot(facts(env), "ollama/*")).toMatch(/^no models are named: set providers.ollama.models/)
    expect(usable(facts(env, '[providers.ollama]\nmodels = ["qwen3:8b"]'))).toEqual(["ollama/qwen3:8b"])
    expect(connectionOf(facts(env), "ollama/any:tag")).toEqual({
      kind: "openai-compatible",
      address: "http://localhost:11434/v1",
      key: { tag: "none" },
      headers: {},
    })
  })
})

describe("with tables", () => {
  test.each([
    ["ollama", "http://127.0.0.1:11434/v1"],
    ["lmstudio", "http://127.0.0.1:1234/v1"],
    ["vllm", "http://127.0.0.1:8000/v1"],
  ])("%s has its usual address once it is configured", (name, address) => {
    const given = facts({}, `[providers.${name}]\nmodels = ["m"]`)
    expect(connectionOf(given, `${name}/m`)).toMatchObject({ address, key: { tag: "none" } })
    expect(usable(given)).toEqual([`${name}/m`])
  })

  test("a custom provider is compatible by default and needs an address", () => {
    expect(whyNot(facts({}, "[providers.mine]"), "mine/*")).toBe("no address: set providers.mine.base_url")
    const text = '[providers.mine]\nbase_url = "https://llm.example"\napi_key_env = "MINE"\nmodels = ["m"]'
    expect(whyNot(facts({}, text), "mine/*")).toBe("set MINE")
    expect(connectionOf(facts({ MINE: "x" }, text), "mine/m")).toEqual({
      kind: "openai-compatible",
      address: "https://llm.example/v1",
      key: { tag: "variable", name: "MINE" },
      headers: {},
    })
  })

  test("configured providers and models come before the others, in the order of the file", () => {
    const text = `[models."openai/gpt-new"]\n[providers.vllm]\nmodels = ["b", "a"]\n[models."vllm/c"]`
    const given = facts({ ANTHROPIC_API_KEY: "x", OPENAI_API_KEY: "x" }, text)
    expect(usable(given)).toEqual([
      "vllm/b",
      "vllm/a",
      "vllm/c",
      "anthropic/claude-sonnet-4-6",
      "anthropic/claude-haiku-4-5",
      "openai/gpt-new",
      "openai/gpt-5.2",
    ])
  })

  test("a key from a usual variable never goes to an address that only the project names, unless its variable is named too", () => {
    const env = { OPENAI_API_KEY: "x" }
    const away = '[providers.openai]\nbase_url = "https://elsewhere.example/v1"'
    expect(whyNot(facts(env, away), "openai/*")).toBe(
      "say which key may go to elsewhere.example: set providers.openai.api_key_env",
    )
    const named = `${away}\napi_key_env = "OPENAI_API_KEY"`
    expect(connectionOf(facts(env, named), "openai/m")).toMatchObject({
      key: { tag: "variable", name: "OPENAI_API_KEY" },
    })
    // The user's own file and this machine are trusted.
    expect(connectionOf(facts(env, away, "user-config"), "openai/m")).toMatchObject({
      address: "https://elsewhere.example/v1",
    })
    const near = '[providers.openai]\nbase_url = "http://localhost:9/v1"'
    expect(connectionOf(facts(env, near), "openai/m")).toMatchObject({ address: "http://localhost:9/v1" })
    const disguised = '[providers.x]\nkind = "openai"\nbase_url = "https://elsewhere.example/v1"'
    expect(whyNot(facts(env, disguised), "x/*")).toMatch(/^say which key may go to elsewhere.example/)
  })
})

describe("limits", () => {
  const limitsOf = (given: EngineFacts, id: string) => {
    const found = findEngineModel(id, given)
    if (found.tag === "unusable") return found.why
    const { contextWindow, maxOutput, price, limits } = found.model
    return { contextWindow, maxOutput, price, limits }
  }
  const KEYS = { ANTHROPIC_API_KEY: "x", GROQ_API_KEY: "x" }

  test("come from the catalogue, with answers of at most a quarter of the window and 64,000 tokens", () => {
    expect(limitsOf(facts(KEYS), "anthropic/claude-haiku-4-5")).toEqual({
      contextWindow: 200_000,
      maxOutput: 50_000,
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
      limits: "catalogue",
    })
    expect(limitsOf(facts(KEYS), "anthropic/claude-sonnet-4-6")).toMatchObject({ maxOutput: 64_000 })
    expect(limitsOf(facts(KEYS), "groq/small")).toMatchObject({ contextWindow: 8_192, maxOutput: 2_048 })
  })

  test("of an unknown model are assumed, and marked so", () => {
    expect(limitsOf(facts(KEYS), "anthropic/claude-next")).toEqual({
      contextWindow: 200_000,
      maxOutput: 32_000,
      price: undefined,
      limits: "assumed",
    })
    expect(limitsOf(facts({}, "[providers.vllm]"), "vllm/m")).toMatchObject({
      contextWindow: 32_768,
      maxOutput: 4_096,
      limits: "assumed",
    })
  })

  test("in the configuration take precedence over the catalogue, key by key", () => {
    const text = `[models."anthropic/claude-haiku-4-5"]
context_window = 1000
max_output = 1000
input_price = 0
output_price = 0
cache_read_price = 2
cache_write_price = 3`
    expect(limitsOf(facts(KEYS, text), "anthropic/claude-haiku-4-5")).toEqual({
      contextWindow: 1_000,
      maxOutput: 1_000,
      price: { input: 0, output: 0, cacheRead: 2, cacheWrite: 3 },
      limits: "config",
    })
    const small = '[models."anthropic/claude-haiku-4-5"]\ncontext_window = 100'
    expect(limitsOf(facts(KEYS, small), "anthropic/claude-haiku-4-5")).toMatchObject({
      contextWindow: 100,
      maxOutput: 25,
      price: { input: 1 },
    })
  })

  test("a single configured price overrides that of the catalogue", () => {
    const text =
      '[models."anthropic/claude-haiku-4-5"]\noutput_price = 9\n[models."anthropic/new"]\ninput_price = 2'
    expect(limitsOf(facts(KEYS, text), "anthropic/claude-haiku-4-5")).toMatchObject({
      price: { input: 1, output: 9, cacheRead: 0.1, cacheWrite: 1.25 },
    })
    expect(limitsOf(facts(KEYS, text), "anthropic/new")).toMatchObject({ price: { input: 2, output: 0 } })
  })

  test("of a hosted kind are known under a custom name too", () => {
    const text =
      '[providers.work]\nkind = "anthropic"\nbase_url = "http://127.0.0.1:9"\nmodels = ["claude-haiku-4-5"]'
    expect(limitsOf(facts(KEYS, text), "work/claude-haiku-4-5")).toMatchObject({
      contextWindow: 200_000,
      limits: "catalogue",
    })
  })

  test("belong to the id, even if the name on the wire differs", () => {
    const text = '[models."vllm/coder"]\nmodel = "Qwen/Qwen3-Coder"\n[providers.vllm]'
    expect(findEngineModel("vllm/coder", facts({}, text))).toMatchObject({
      model: { id: "vllm/coder", model: "Qwen/Qwen3-Coder" },
    })
  })
})

test.each([
  ["nobody/model", "no such provider: add [providers.nobody] to config.toml"],
  ["model", "a model of the engine is named provider/model"],
  ["openai/", "a model of the engine is named provider/model"],
  ["/model", "a model of the engine is named provider/model"],
  ["constructor/x", "no such provider: add [providers.constructor] to config.toml"],
])("%j cannot be used: %s", (id, why) => {
  expect(findEngineModel(id, facts())).toEqual({ tag: "unusable", why })
})

test("every preset that needs a key says which, and every compatible one has an address", () => {
  for (const [name, preset] of Object.entries(PROVIDER_PRESETS)) {
    expect([name, preset.local === true || preset.keys.length > 0]).toEqual([name, true])
    expect([name, preset.kind !== "openai-compatible" || preset.address !== undefined]).toEqual([name, true])
  }
})
