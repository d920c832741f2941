/** `config.toml` as `meridian init` writes it: every option explained, commented out, showing its default. */
import { OPTION_KEYS, optionOf, type Option, type OptionValue } from "./config-option.ts"
import type { PermissionRuleRow } from "./engine-table-rules.ts"

export const configTemplate = (): string => {
  const lines = [
    "# Meridian's configuration. Every option is here, commented out, with its default.",
    "# Remove the '# ' before an option to change it, or use 'meridian config set KEY VALUE'.",
    "# Later layers win: defaults, this file, the file of --config or MERIDIAN_CONFIG, variables.",
  ]
  let section = ""
  for (const key of OPTION_KEYS) {
    const option = optionOf(key)
    const [head = "", name = ""] = key.split(".")
    if (head !== section) lines.push("", `[${head}]`)
    else lines.push("")
    section = head
    lines.push(...wrap(option.description, 98).map((line) => `# ${line}`), `# ${factsOf(option)}`)
    lines.push(`# ${name} = ${toTomlValue(option.default ?? exampleOf(option))}`)
  }
  return `${[...lines, "", ...TABLES].join("\n")}\n`
}

/** Names the user chooses cannot be listed with a default, so an example shows them. */
const TABLES = [
  "# An agent that speaks the Agent Client Protocol, for --harness acp:mine. It counts in your own configuration only",
  "# (~/.config/meridian/config.toml), not in a project's.",
  "# [harness.acp.mine]",
  '# command = ["program", "--acp"]',
  "#",
  "# Providers and models of the engine. The usual variables need no table (ANTHROPIC_API_KEY, OPENAI_API_KEY,",
  "# GEMINI_API_KEY, OPENROUTER_API_KEY, OLLAMA_HOST); 'meridian models list' shows what is usable and what is missing.",
  "# Kinds: anthropic, openai, google, openai-compatible. A key is named by its variable, never written here.",
  "# [providers.mine]",
  '# kind = "openai-compatible"',
  '# base_url = "http://127.0.0.1:8000/v1"',
  '# api_key_env = "MINE_API_KEY"',
  '# models = ["qwen3-coder"]',
  "#",
  "# Limits in tokens and prices in dollars per million tokens, where the catalogue has none or others.",
  '# [models."mine/qwen3-coder"]',
  "# context_window = 131072",
  "# max_output = 16384",
  "# input_price = 0.3",
  "# output_price = 1.2",
  "# idle_ms = 120000",
  "#",
  "# MCP servers of the engine, for Direct, editors and HTTP: a program, or an address. Of a project's file each counts",
  "# where you trust the folder with it. A token is named by its variable.",
  "# [mcp.docs]                              (or a program: command with a list of words, the program first)",
  '# url = "https://docs.example/mcp"',
  '# bearer_token_env = "DOCS_TOKEN"',
  "#",
  "# Places outside the project that the engine's agents may look at.",
  "# [references.library]",
  '# path = "../library"',
  "#",
  "# Agents of the engine; a built-in name (build, plan) changes that one.",
  "# [agents.reviewer]",
  '# description = "Reads a change and says what is wrong"',
  '# tools = ["read", "g*", "bash"]',
  "# steps = 20",
]

export const toTomlValue = (value: OptionValue): string => {
  if (typeof value === "string") return tomlString(value)
  if (typeof value === "object") return `[${value.map(tomlItem).join(", ")}]`
  return String(value)
}

const tomlItem = (item: string | PermissionRuleRow): string =>
  typeof item === "string"
    ? tomlString(item)
    : `{ action = ${tomlString(item.action)}, resource = ${tomlString(item.resource)}, effect = ${tomlString(item.effect)} }`

/** A TOML basic string escapes like a JSON string, except that TOML also wants DEL escaped. */
const tomlString = (text: string): string => JSON.stringify(text).replaceAll("\u007F", "\\u007f")

const exampleOf = (option: Option): OptionValue => {
  if (option.choices?.[0] !== undefined) return option.choices[0]
  switch (option.type) {
    case "boolean":
      return false
    case "string":
      return "..."
    case "strings":
    case "rules":
      return []
    case "time":
      return "1h"
    case "integer":
    case "number":
      return option.maximum === 100 ? 65 : 1
  }
}

const factsOf = (option: Option): string => {
  const kind = option.choices === undefined ? KIND[option.type] : `One of: ${option.choices.join(", ")}.`
  const range =
    option.minimum === undefined || option.maximum === undefined
      ? ""
      : ` From ${option.minimum} to ${option.maximum}.`
  const unset = option.default === undefined ? " Unset by default." : ""
  return `${kind}${range}${unset}${option.variable === undefined ? "" : ` Variable: ${option.variable}.`}`
}

const KIND = {
  boolean: "True or false.",
  integer: "Whole number.",
  number: "Number.",
  string: "Text.",
  strings: "List of texts.",
  time: "A time such as 90s, 30m or 24h.",
  rules: "List of { action, resource, effect }.",
} as const

const wrap = (text: string, width: number): readonly string[] => {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return line === "" ? lines : [...lines, line]
}
