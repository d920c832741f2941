/**
 * Codex (0.166): `codex exec --json … [resume ID | fork ID] -`, prompt on stdin. Every flag comes before the
 * subcommand.
 */
import { join } from "node:path"

import {
  asObject,
  countAt,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  parseObject,
  textAt,
  wordAt,
} from "@meridian/protocol"

import type { PermissionTier } from "../domain/tier.ts"
import type {
  Harness,
  HarnessEvent,
  HarnessFailure,
  LaunchPlan,
  LaunchRequest,
  ParserOptions,
  PlannedFile,
  StreamParser,
  Usage,
} from "../port/harness.ts"
import { classifyText, failureOf } from "./classify.ts"
import { findRollout, isInRollout, keptByCodex, usageInRollout, wordsInRollout } from "./codex-rollout.ts"
import { firstMessage } from "./first-message.ts"
import { fitsArgument, isToldAlready, promptWith, standingText } from "./instructions.ts"
import { fitParams } from "./params.ts"
import { other, streamParser } from "./stream-parser.ts"
import { usageSince } from "./usage.ts"

const NAME = "Codex"

export const codex: Harness = {
  id: "codex",
  name: NAME,
  binary: "codex",
  steering: "message",
  capabilities: {
    fork: true,
    chooseSession: false,
    reopenSession: false,
    nativeAgent: false,
    nativeSkills: true,
    systemPrompt: false,
    cost: false,
    interactive: true,
    schema: true,
  },
  launch: (request) => launch(request),
  parser: (options) => parser(options ?? {}),
  findSession: (search) => findRollout(search),
  usageBefore: (lookup) => usageInRollout(lookup),
  holdsPrompt: (lookup) => isInRollout(lookup),
  holdsWords: (search) => wordsInRollout(search),
  keptRequests: (search) => keptByCodex(search),
}

const launch = (request: LaunchRequest): LaunchPlan => {
  const headless = request.mode === "headless"
  const fitted = fitParams({ id: "codex", name: NAME }, request.params ?? [])
  const standing = isToldAlready(request) ? "" : standingText(request)
  // An interactive session may have no prompt at all. A headless one keeps the text in its history, where a resume
  // finds it.
  const asSetting = !headless && standing !== "" && fitsArgument(standing)
  const prompt = promptWith(asSetting ? "" : standing, request.prompt ?? "")
  const message = headless ? { files: [] } : firstMessage({ ...request, prompt })
  const { session } = request
  const schema = schemaArgs(request)
  const args = [
    // A project need not be a git repository.
    ...(headless ? ["exec", "--json", "--skip-git-repo-check"] : []),
    "-C",
    request.cwd,
    ...permissionArgs(request),
    ...(request.model === undefined ? [] : ["-m", request.model]),
    ...(request.effort === undefined ? [] : setting("model_reasoning_effort", request.effort)),
    ...(asSetting ? setting("developer_instructions", standing) : []),
    ...mcpArgs(request),
    ...schema.args,
    ...pathArgs(request),
    ...fitted.args,
    ...(session.kind === "continue" ? ["resume", session.id] : []),
    ...(session.kind === "fork" ? ["fork", session.id] : []),
    ...(headless ? ["-"] : []),
    ...(message.text === undefined ? [] : ["--", message.text]),
  ]
  return {
    command: request.binary ?? codex.binary,
    args,
    cwd: request.cwd,
    environment: { PWD: request.cwd },
    stdin: headless ? { kind: "text", text: prompt } : { kind: "inherit" },
    files: [...schema.files, ...message.files],
    ...(session.kind === "continue" ? { harnessSessionId: session.id } : {}),
    warnings: fitted.warnings,
  }
}

const SANDBOX = {
  "read-only": ["-s", "read-only"],
  "workspace-write": ["-s", "workspace-write"],
  "full-access": ["-s", "danger-full-access"],
  danger: ["--dangerously-bypass-approvals-and-sandbox"],
} as const satisfies Record<PermissionTier, readonly string[]>

/** Codex remembers that a directory was trusted once, so a headless run always states its rights. */
const permissionArgs = ({ permission, mode }: LaunchRequest): readonly string[] => {
  if (permission !== undefined) return SANDBOX[permission]
  return mode === "headless" ? SANDBOX["read-only"] : []
}

/** A JSON string is a TOML string too. */
const setting = (key: string, value: string | readonly string[]): readonly string[] => [
  "-c",
  `${key}=${JSON.stringify(value)}`,
]

const mcpArgs = ({ mcpServers = [] }: LaunchRequest): readonly string[] =>
  mcpServers.flatMap(({ name, command, args, environment = {} }) => [
    ...setting(`mcp_servers.${name}.command`, command),
    ...setting(`mcp_servers.${name}.args`, args),
    ...Object.entries(environment).flatMap(([key, value]) =>
      setting(`mcp_servers.${name}.env.${key}`, value),
    ),
    // No person is there to approve, and without this every call fails.
    ...setting(`mcp_servers.${name}.default_tools_approval_mode`, "approve"),
  ])

/** Codex takes the schema as a file. */
const schemaArgs = ({
  mode,
  schema,
  scratch,
}: LaunchRequest): { readonly args: readonly string[]; readonly files: readonly PlannedFile[] } => {
  if (mode !== "headless" || schema === undefined) return { args: [], files: [] }
  const path = join(scratch, "codex-output-schema.json")
  return { args: ["--output-schema", path], files: [{ path, content: JSON.stringify(schema) }] }
}

/**
 * Codex runs commands in a login shell whose profile resets the PATH, so the agent would not find `meridian`.
 * Variables of its shell policy are set after the profile was read.
 */
const pathArgs = ({ environment }: LaunchRequest): readonly string[] => {
  const { PATH: path, MERIDIAN_COMMAND: launcher } = environment
  return path === undefined || launcher === undefined
    ? []
    : setting("shell_environment_policy.set.PATH", path)
}

const parser = (options: ParserOptions): StreamParser => {
  let lastText: string | undefined
  let turn: "open" | "completed" | "failed" = "open"
  let failure: HarnessFailure | undefined
  let lastError: string | undefined
  let sessionUsage: Usage | undefined

  const readItem = (line: JsonObject, phase: "started" | "ended"): readonly HarnessEvent[] => {
    const item = objectAt(line, "item")
    const kind = wordAt(item, "type")
    if (item === undefined) return [other("item", line)]
    if (kind in TOOLS) return readTool(item, kind, phase)
    if (phase === "started") return []
    switch (kind) {
      case "agent_message": {
        const text = wordAt(item, "text")
        if (text.trim() !== "") lastText = text
        return [{ type: "text", text }]
      }
      case "reasoning":
        return [{ type: "reasoning", text: wordAt(item, "text") }]
      case "file_change":
        return readFiles(item)
      // Not a failure: for example "model metadata not found".
      case "error":
        return [{ type: "warning", message: wordAt(item, "message") }]
      default:
        return [other(`item ${kind}`, line)]
    }
  }

  return streamParser({
    session: (line) => (textAt(line, "type") === "thread.started" ? textAt(line, "thread_id") : undefined),
    sessionPattern: /^\{"type":"thread\.started","thread_id":"([^"\\]{1,200})"/,
    read: (line) => {
      switch (wordAt(line, "type")) {
        case "thread.started":
          return []
        case "turn.started":
          turn = "open"
          return []
        case "item.started":
          return readItem(line, "started")
        case "item.completed":
          return readItem(line, "ended")
        case "item.updated":
          return []
        case "turn.completed":
          turn = "completed"
          failure = undefined
          sessionUsage = usageOf(objectAt(line, "usage"))
          return [...usageEvents(sessionUsage, options), { type: "turn.ended", reason: "completed" }]
        case "turn.failed": {
          turn = "failed"
          failure = failureIn(textAt(objectAt(line, "error"), "message") ?? lastError ?? "The turn failed.")
          return [
            { type: "error", failure: failure.class, message: failure.message },
            { type: "turn.ended", reason: "failed" },
          ]
        }
        case "error":
          lastError = wordAt(line, "message")
          return readNotice(lastError)
        default:
          return [other(wordAt(line, "type"), line)]
      }
    },
    outcome: ({ exitCode }) => {
      const usage = sessionUsage === undefined ? undefined : usageOfRun(sessionUsage, options)
      return {
        // Exit code 0 can be trusted once the turn completed or the agent said something.
        complete: exitCode === 0 && turn !== "failed" && (turn === "completed" || lastText !== undefined),
        ...(failure === undefined ? {} : { failure }),
        ...(lastText === undefined ? {} : { report: lastText }),
        ...(usage === undefined ? {} : { usage }),
        ...(sessionUsage === undefined ? {} : { sessionUsage }),
      }
    },
  })
}

/** Items that are tool calls, with their names in events. */
const TOOLS: Readonly<Record<string, string>> = {
  command_execution: "shell",
  mcp_tool_call: "mcp",
  web_search: "web_search",
}

const readTool = (item: JsonObject, kind: string, phase: "started" | "ended"): readonly HarnessEvent[] => {
  const call = wordAt(item, "id")
  const named = [textAt(item, "server"), textAt(item, "tool")].filter((word) => word !== undefined)
  const tool = named.length === 0 ? (TOOLS[kind] ?? kind) : named.join(".")
  if (phase === "started") {
    const input = { ...asText(item, "command"), ...asText(item, "query"), ...objectAt(item, "arguments") }
    return [{ type: "tool.started", call, tool, input }]
  }
  const failed = textAt(item, "status") === "failed" || (numberAt(item, "exit_code") ?? 0) !== 0
  return [{ type: "tool.ended", call, tool, status: failed ? "failed" : "completed", output: outputOf(item) }]
}

const asText = (item: JsonObject, key: string): JsonObject => {
  const value = textAt(item, key)
  return value === undefined ? {} : { [key]: value }
}

const outputOf = (item: JsonObject): string =>
  textAt(item, "aggregated_output") ??
  textAt(objectAt(item, "error"), "message") ??
  listAt(objectAt(item, "result"), "content")
    .map((block) => wordAt(asObject(block), "text"))
    .join("\n")

const readFiles = (item: JsonObject): readonly HarnessEvent[] =>
  textAt(item, "status") === "failed"
    ? []
    : listAt(item, "changes").flatMap((value): readonly HarnessEvent[] => {
        const path = textAt(asObject(value), "path")
        const deleted = textAt(asObject(value), "kind") === "delete"
        return path === undefined ? [] : [{ type: "file", path, change: deleted ? "deleted" : "written" }]
      })

/** `error` lines announce a retry, unless `turn.failed` says otherwise. */
const readNotice = (message: string): readonly HarnessEvent[] => {
  if (!message.startsWith("Reconnecting...")) return [{ type: "warning", message }]
  // "1/5", or "waiting for network", which never ends: only the time limit of the run stops it.
  const attempt = Number(/^Reconnecting\.\.\. (\d+)\/\d+/.exec(message)?.[1] ?? 1)
  const { class: failure, message: said } = failureIn(message)
  return [{ type: "retry", attempt, failure, message: said }]
}

/** An HTTP refusal arrives as the raw body of the response. */
const failureIn = (message: string): HarnessFailure => {
  const inner = textAt(objectAt(parseObject(message), "error"), "message")
  return failureOf(classifyText(message), inner ?? message)
}

const usageEvents = (total: Usage | undefined, options: ParserOptions): readonly HarnessEvent[] => {
  const usage = total === undefined ? undefined : usageOfRun(total, options)
  return usage === undefined ? [] : [{ type: "usage", usage }]
}

/** `input_tokens` includes cached ones. */
const usageOf = (usage: JsonObject | undefined): Usage | undefined => {
  if (usage === undefined) return undefined
  const cached = countAt(usage, "cached_input_tokens")
  return {
    inputTokens: Math.max(0, countAt(usage, "input_tokens") - cached),
    cachedInputTokens: cached,
    outputTokens: countAt(usage, "output_tokens"),
  }
}

/** The stream reports the total of the thread. Without the total before it, a continuation cannot tell its own part. */
const usageOfRun = (total: Usage, { continued, usageBefore }: ParserOptions): Usage | undefined => {
  if (usageBefore !== undefined) return usageSince(usageBefore, total)
  return continued === true ? undefined : total
}
