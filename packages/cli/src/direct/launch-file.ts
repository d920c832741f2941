/** What `--launch FILE` holds: the parts of a launch that may be long. Written by the harness adapter of spaces. */
import { resolve } from "node:path"

import { readWhole } from "@meridian/continuity/files"
import { Failure, isJsonObject, type Caps, type JsonObject } from "@meridian/protocol"
import type { McpServer } from "@meridian/spaces"

export interface LaunchFile {
  /** The first message of a conversation. */
  readonly prompt?: string
  /** Standing text: skills and whatever else the launcher wants to be told beside the conversation. */
  readonly instructions?: string
  readonly agent?: { readonly name: string; readonly body: string }
  /** Replaces what the permission tier would allow. */
  readonly allowedTools?: readonly string[]
  /** JSON Schema of the answer. */
  readonly schema?: JsonObject
  readonly mcpServers: readonly McpServer[]
  /** What it may use up from now on. */
  readonly budget?: Caps
  /** Questions wait for a person. */
  readonly asks?: boolean
}

export const readLaunchFile = (path: string | undefined): LaunchFile => {
  if (path === undefined) return { mcpServers: [] }
  const content = readContent(path)
  const prompt = textOf(content["prompt"])
  const instructions = textOf(content["instructions"])
  const agent = agentOf(content["agent"])
  const tools = content["allowed_tools"]
  const schema = content["schema"]
  const budget = capsOf(content["budget"])
  return {
    mcpServers: listOf(content["mcp_servers"]).flatMap(serverOf),
    ...(prompt === undefined ? {} : { prompt }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(agent === undefined ? {} : { agent }),
    ...(isJsonObject(schema) ? { schema } : {}),
    ...(tools === undefined ? {} : { allowedTools: textsOf(tools) }),
    ...(budget === undefined ? {} : { budget }),
    ...(content["asks"] === true ? { asks: true } : {}),
  }
}

/** A prompt and the standing text of a launch, each of which has its own bound. */
const LARGEST_BYTES = 33_554_432

type Fields = Readonly<Record<string, unknown>>

const readContent = (path: string): Fields => {
  const found = readWhole("/", resolve(path), LARGEST_BYTES)
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- the codec of this file; every field is checked
    const value: unknown = found.kind === "text" ? JSON.parse(found.text) : undefined
    if (isFields(value)) return value
  } catch {
    // Said below: not there and not readable are the same to whoever typed it.
  }
  throw new Failure("USAGE", {
    problem: `${path} is not a launch of the direct harness.`,
    next: "start a conversation with 'meridian start --harness direct'.",
  })
}

const agentOf = (value: unknown): LaunchFile["agent"] => {
  if (!isFields(value)) return undefined
  const name = textOf(value["name"])
  return name === undefined || name === "" ? undefined : { name, body: textOf(value["body"]) ?? "" }
}

const capsOf = (value: unknown): Caps | undefined => {
  if (!isFields(value)) return undefined
  const named: Readonly<Record<keyof Caps, unknown>> = {
    maxCost: value["cost"],
    maxTokens: value["tokens"],
    maxTurns: value["turns"],
    maxTimeMs: value["time_ms"],
  }
  const given = Object.entries(named).filter(([, amount]) => typeof amount === "number" && amount > 0)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

const serverOf = (value: unknown): readonly McpServer[] => {
  if (!isFields(value)) return []
  const [name, command] = [textOf(value["name"]), textOf(value["command"])]
  if (name === undefined || command === undefined) return []
  const environment = Object.entries(isFields(value["environment"]) ? value["environment"] : {}).flatMap(
    ([key, text]) => (typeof text === "string" ? [[key, text] as const] : []),
  )
  return [{ name, command, args: textsOf(value["args"]), environment: Object.fromEntries(environment) }]
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const textsOf = (value: unknown): readonly string[] => listOf(value).flatMap((text) => textOf(text) ?? [])

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
