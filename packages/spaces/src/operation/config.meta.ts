import { defineMeta } from "./operation.ts"
import { ANY, BOOLEAN, INTEGER, listOf, objectOf, oneOf, STRING } from "./schema.ts"

const KEY = {
  type: "string",
  description:
    "Key such as runs.max_parallel; the last part is enough when it is unique. Keys of tables in full: providers.ollama.base_url, models.ollama/qwen3.context_window.",
  positional: true,
  required: true,
  value: "KEY",
} as const

const SETTING = objectOf(
  { key: STRING, source: oneOf("builtin", "file", "user-config", "env var") },
  { value: ANY, path: STRING, line: INTEGER, env_var: STRING },
)

export const CONFIG_SHOW = defineMeta({
  name: "config.show",
  audience: "human",
  summary: "Show every option with its value and where it comes from.",
  fields: {},
  output: objectOf({ path: STRING, values: listOf(SETTING) }, { overlay: STRING }),
  details:
    "Later layers win: built-in defaults, config.toml, the file of --config or MERIDIAN_CONFIG, environment variables.",
})

export const CONFIG_GET = defineMeta({
  name: "config.get",
  audience: "human",
  summary: "Print the value of one option.",
  fields: { key: KEY },
  output: SETTING,
  examples: ["config get runs.max_parallel"],
})

export const CONFIG_SET = defineMeta({
  name: "config.set",
  audience: "human",
  summary: "Set one option in config.toml; every comment and every other line stays.",
  fields: {
    key: KEY,
    value: {
      type: "string",
      description: "New value; a list is separated by commas.",
      positional: true,
      required: true,
      value: "VALUE",
    },
  },
  output: objectOf({ key: STRING, path: STRING, value: ANY }),
  examples: [
    "config set start.auto_resume false",
    "config set search_paths.skills .meridian/skills,skills",
    "config set providers.ollama.base_url http://127.0.0.1:11434",
  ],
})

export const CONFIG_RESET = defineMeta({
  name: "config.reset",
  audience: "human",
  summary: "Remove one option from config.toml, so that its default holds again.",
  fields: { key: KEY },
  output: objectOf({ key: STRING, path: STRING, removed: BOOLEAN }),
  examples: ["config reset start.auto_resume"],
})
