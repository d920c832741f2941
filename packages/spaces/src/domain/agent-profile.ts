/**
 * An agent profile: who does the work, with which model, skills and rights. These are in the front matter; the body
 * is the profile's text.
 */
import { isJsonObject } from "@meridian/protocol"

import { textList, textValue } from "./front-matter.ts"
import type { FileTier } from "./tier.ts"

export interface AgentProfile {
  readonly name: string
  /** Absolute. */
  readonly path: string
  readonly description: string
  readonly body: string
  readonly model?: string
  readonly effort?: string
  readonly skills: readonly string[]
  readonly allowedTools?: readonly string[]
  readonly permission?: FileTier
  /** Command lines that prove its work. In a folder's profile they count only if the user trusts the folder with them. */
  readonly checks?: readonly string[]
  /** Names only: a profile starts no program on its own. */
  readonly servers: readonly string[]
}

export type ProfileReading =
  | { readonly tag: "profile"; readonly profile: AgentProfile }
  | { readonly tag: "wrong"; readonly problem: string }

export const readAgentProfile = (file: {
  readonly path: string
  readonly stem: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: string
}): ProfileReading => {
  const { fields } = file
  const sandbox = textValue(fields["sandbox"])
  const permission = sandbox === undefined ? undefined : TIER_OF_SANDBOX[sandbox]
  if (sandbox !== undefined && permission === undefined)
    return {
      tag: "wrong",
      problem: `sandbox must be one of ${Object.keys(TIER_OF_SANDBOX).join(", ")}, got '${sandbox}'`,
    }
  const name = textValue(fields["name"]) ?? file.stem
  if (name.startsWith("-")) return { tag: "wrong", problem: "its name begins with a dash, like a flag" }
  const model = textValue(fields["model"])
  const effort = textValue(fields["variant"]) ?? textValue(fields["effort"])
  const checks = commandLines(fields["check"] ?? fields["checks"])
  const tools = fields["allowed-tools"] ?? fields["tools"]
  return {
    tag: "profile",
    profile: {
      name,
      path: file.path,
      description: textValue(fields["description"]) ?? "",
      body: file.body,
      skills: textList(fields["skills"]),
      servers: serverNames(fields["mcp-servers"] ?? fields["mcpServers"]),
      // `inherit` is Claude's word for "the model of the conversation".
      ...(model === undefined || model === "inherit" ? {} : { model }),
      ...(effort === undefined ? {} : { effort }),
      // OpenCode writes `tools: {write: false}`, which is not a list of allowed tools.
      ...(tools === undefined || isJsonObject(tools) ? {} : { allowedTools: textList(tools) }),
      ...(permission === undefined ? {} : { permission }),
      ...(checks === undefined ? {} : { checks }),
    },
  }
}

/** One command line or a list of them. It is never split at commas: a comma can be part of a command line. */
const commandLines = (value: unknown): readonly string[] | undefined => {
  if (value === undefined || value === null) return undefined
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  return items.flatMap((item) => textValue(item) ?? [])
}

/** A profile cannot give itself `danger`: that takes a person's --permission. */
const TIER_OF_SANDBOX: Readonly<Record<string, FileTier>> = {
  "read-only": "read-only",
  "workspace-write": "workspace-write",
  "full-access": "full-access",
  "danger-full-access": "full-access",
  unrestricted: "full-access",
}

/** A name, a list of names, a list of servers with a `name`, or servers keyed by name (as Claude writes them). */
const serverNames = (value: unknown): readonly string[] => {
  if (isJsonObject(value)) return Object.keys(value)
  if (!Array.isArray(value)) return textList(value)
  return value.flatMap((entry: unknown) =>
    isJsonObject(entry) ? (textValue(entry["name"]) ?? Object.keys(entry)) : textList(entry),
  )
}
