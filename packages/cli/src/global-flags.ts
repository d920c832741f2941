/** Flags that every command has. They may come before or after the command's words. */
import type { Fields } from "@meridian/spaces"

export const GLOBAL_FLAGS = {
  json: { type: "boolean", description: "Print one JSON document." },
  format: { type: "string", description: "Output format.", choices: ["text", "json"], value: "FORMAT" },
  config: {
    type: "string",
    description: "Configuration file laid over config.toml (also MERIDIAN_CONFIG).",
    value: "FILE",
  },
  allowForeign: {
    type: "boolean",
    description: "As root: work on state that belongs to another user.",
  },
  yes: { type: "boolean", description: "Answer every question with yes.", short: "y" },
  human: { type: "boolean", description: "Full help and text output in agent mode.", hidden: true },
  help: { type: "boolean", description: "Show help.", short: "h" },
  version: { type: "boolean", description: "Show the version." },
} as const satisfies Fields
