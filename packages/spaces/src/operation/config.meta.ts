import { ANY, BOOLEAN, INTEGER, STRING, listOf, objectOf, oneOf } from "@meridian/protocol"

import { CONFIG_SOURCES } from "../domain/config-layer.ts"
import { FILE_TIERS } from "../domain/tier.ts"
import { defineMeta } from "./operation.ts"

const KEY = {
  type: "string",
  description:
    "Key such as runs.max_parallel; the last part is enough if it is unique. Write keys of tables in full: providers.ollama.base_url, models.ollama/qwen3.context_window.",
  positional: true,
  required: true,
  value: "KEY",
} as const

const USER_FIELD = {
  type: "boolean",
  description: "In your own configuration, which applies to every project.",
} as const

const SETTING = objectOf(
  { key: STRING, source: oneOf(...CONFIG_SOURCES) },
  { value: ANY, path: STRING, line: INTEGER, env_var: STRING },
)

export const CONFIG_SHOW = defineMeta({
  name: "config.show",
  audience: "human",
  summary: "Show every option with its value and source.",
  fields: {},
  output: objectOf(
    { path: STRING, trusted: BOOLEAN, values: listOf(SETTING) },
    {
      tier: oneOf(...FILE_TIERS),
      user_path: STRING,
      overlay: STRING,
      ignored: listOf(objectOf({ key: STRING, value: STRING, where: STRING, why: STRING })),
    },
  ),
  details:
    "Later layers win: built-in defaults ('builtin'), your own ~/.config/meridian/config.toml ('user'), config.toml of the project ('file'), the file of --config or MERIDIAN_CONFIG ('user-config'), environment variables ('env var'). What the project's file says about programs, providers and folders elsewhere only counts if you trust the folder, and it can only lower rights. Ignored values are listed with the reason.",
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
    user: USER_FIELD,
  },
  output: objectOf({ key: STRING, path: STRING, value: ANY }),
  details:
    "A program or a provider that you set for a folder is trusted; rights are not raised this way. Use --user for values that apply to every folder.",
  examples: [
    "config set start.auto_resume false",
    "config set --user harness.claude /opt/claude/bin/claude",
    "config set search_paths.skills .meridian/skills,skills",
    "config set providers.ollama.base_url http://127.0.0.1:11434",
  ],
})

export const CONFIG_RESET = defineMeta({
  name: "config.reset",
  audience: "human",
  summary: "Remove one option from config.toml, so that its default applies again.",
  fields: { key: KEY, user: USER_FIELD },
  output: objectOf({ key: STRING, path: STRING, removed: BOOLEAN }),
  examples: ["config reset start.auto_resume"],
})
