import { parse } from "smol-toml"
import { expect, test } from "vitest"

import { keyLines } from "./config-text.ts"
import { readProviderTables } from "./provider-table.ts"

const KEY = "sk-ant-not-to-be-seen-0123456789"

const file = (text: string, source: "file" | "user-config" = "file") => ({
  path: `${source}.toml`,
  source,
  tree: parse(text),
  lines: keyLines(text),
})

const read = (text: string, source: "file" | "user-config" = "file") =>
  readProviderTables([file(text, source)])

test("providers and models are read, later files replace single keys, and each is shown with its place", () => {
  const project = file(`[providers.mine]
base_url = "http://10.0.0.5:8000"
models = ["a", "b/c"]
[models."mine/a"]
context_window = 4096
`)
  const own = file(
    `[providers.mine]
base_url = "http://127.0.0.1:9/v1"
api_key = "${KEY}"
headers = { "x-title" = "lab", authorization = "${KEY}" }
[providers.lmstudio]
`,
    "user-config",
  )
  const { tables, shown, wrong, unknown } = readProviderTables([project, own])
  expect([wrong, unknown]).toEqual([[], []])
  expect([...tables.providers]).toEqual([
    [
      "mine",
      {
        base_url: "http://127.0.0.1:9/v1",
        models: ["a", "b/c"],
        api_key: KEY,
        headers: { "x-title": "lab", authorization: KEY },
      },
    ],
    ["lmstudio", {}],
  ])
  expect([...tables.models]).toEqual([["mine/a", { context_window: 4_096 }]])
  expect([...tables.foreignAddress]).toEqual([])
  expect([...readProviderTables([project]).tables.foreignAddress]).toEqual(["mine"])
  expect(shown).toEqual([
    {
      key: "providers.mine.base_url",
      value: "http://127.0.0.1:9/v1",
      source: "user-config",
      path: "user-config.toml",
      line: 2,
    },
    { key: "providers.mine.models", value: ["a", "b/c"], source: "file", path: "file.toml", line: 3 },
    { key: "models.mine/a.context_window", value: 4_096, source: "file", path: "file.toml", line: 5 },
    {
      key: "providers.mine.api_key",
      value: "<hidden>",
      source: "user-config",
      path: "user-config.toml",
      line: 3,
    },
    {
      key: "providers.mine.headers",
      value: { "x-title": "lab", authorization: "<hidden>" },
      source: "user-config",
      path: "user-config.toml",
      line: 4,
    },
  ])
})

test.each([
  [
    '[providers.a]\nkind = "bedrock"',
    "providers.a.kind",
    2,
    "one of anthropic, openai, google, openai-compatible",
    '"bedrock"',
  ],
  [
    '[providers.a]\nbase_url = "localhost:1"',
    "providers.a.base_url",
    2,
    "an http or https address",
    '"localhost:1"',
  ],
  [
    '[providers.a]\nbase_url = "ftp://me:word@host"',
    "providers.a.base_url",
    2,
    "an http or https address",
    '"ftp://<hidden>@host"',
  ],
  [
    `[providers.a]\n\napi_key = "${KEY}"`,
    "providers.a.api_key",
    3,
    "in no file of the project: name its variable with api_key_env",
    "<hidden>",
  ],
  [
    `[providers.a]\napi_key_env = "${KEY}"`,
    "providers.a.api_key_env",
    2,
    "the name of an environment variable, in capitals",
    "<hidden>",
  ],
  [
    `[providers.a]\nheaders = { "X-Api-Key" = "${KEY}" }`,
    "providers.a.headers",
    2,
    "without credentials in a file of the project: name the key's variable with api_key_env",
    "<hidden>",
  ],
  [
    '[providers.a]\nheaders = { "x" = "a\\nb" }',
    "providers.a.headers",
    2,
    "a table of header names and texts",
    "<hidden>",
  ],
  ['[providers.a]\nmodels = "one"', "providers.a.models", 2, "a list of model names", '"one"'],
  [`[providers]\na = "${KEY}"`, "providers.a", 2, "a table", "a string"],
  ["providers = 3", "providers", 1, "a table of tables", "3"],
  ['[providers."a b"]\nkind = "openai"', "providers.a b", 1, "named with letters, digits, - and _", '"a b"'],
  [
    '[models."ollama/x"]\ncontext_window = 0',
    "models.ollama/x.context_window",
    2,
    "a whole number of tokens above 0",
    "0",
  ],
  [
    '[models."ollama/x"]\ncontext_window = 1.5',
    "models.ollama/x.context_window",
    2,
    "a whole number of tokens above 0",
    "1.5",
  ],
  [
    '[models."ollama/x"]\ncontext_window = 10\nmax_output = 11',
    "models.ollama/x.max_output",
    3,
    "at most its context_window (10)",
    "11",
  ],
  [
    '[models."ollama/x"]\ninput_price = -1',
    "models.ollama/x.input_price",
    2,
    "a number of dollars per million tokens, 0 or more",
    "-1",
  ],
  [
    '[models."nobody/x"]\nmax_output = 1',
    "models.nobody/x",
    1,
    expect.stringMatching(/^named provider\/model, the provider one of anthropic, .*vllm/),
    '"nobody/x"',
  ],
])(
  "a wrong table is told with file, line and key, and without credentials: %j",
  (text, key, line, expected, got) => {
    const { wrong } = read(text)
    expect(wrong).toContainEqual({ key, where: `file.toml:${line}`, expected, got })
    expect(JSON.stringify(wrong)).not.toContain(KEY)
  },
)

test("a max_output as large as its context_window is let through", () => {
  expect(read('[models."ollama/x"]\ncontext_window = 10\nmax_output = 10').wrong).toEqual([])
})

test("the user's own file may hold a key", () => {
  const { tables, wrong } = read(`[providers.a]\napi_key = "${KEY}"`, "user-config")
  expect([wrong, tables.providers.get("a")]).toEqual([[], { api_key: KEY }])
})

test("an unknown key of a table is reported with the nearest known one, never with its value", () => {
  const { unknown } = read(`[providers.a]\nbase_ur = "x"\napikey = "${KEY}"\n[models."ollama/x"]\nwindow = 1`)
  expect(unknown).toEqual([
    { path: "file.toml", line: 2, key: "providers.a.base_ur", suggestion: "providers.a.base_url" },
    { path: "file.toml", line: 3, key: "providers.a.apikey", suggestion: "providers.a.api_key" },
    { path: "file.toml", line: 5, key: "models.ollama/x.window", suggestion: undefined },
  ])
})
