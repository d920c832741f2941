/** Claude Code (2.1): `claude -p --output-format stream-json --verbose`, prompt on stdin, session id chosen by us. */
import { join } from "node:path"

import {
  asObject,
  countAt,
  type HarnessSessionId,
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
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
import { classify, failureOf } from "./classify.ts"
import {
  conversationFiles,
  findConversation,
  isConversationKept,
  keptByClaude,
  wordsInClaude,
} from "./claude-conversations.ts"
import { firstMessage } from "./first-message.ts"
import { fitsArgument, isToldAlready } from "./instructions.ts"
import { LIMITS } from "./limits.ts"
import { openCalls } from "./open-calls.ts"
import { fitParams, valueOf, without } from "./params.ts"
import { asSession, other, streamParser } from "./stream-parser.ts"
import { addUsage, NO_USAGE } from "./usage.ts"

const NAME = "Claude"

export const claude: Harness = {
  id: "claude",
  name: NAME,
  binary: "claude",
  steering: "tool",
  capabilities: {
    fork: true,
    chooseSession: true,
    reopenSession: false,
    nativeAgent: true,
    nativeSkills: true,
    systemPrompt: true,
    cost: true,
    interactive: true,
    schema: true,
  },
  launch: (request) => launch(request),
  parser: (options) => parser(options ?? {}),
  findSession: (search) => findConversation(search),
  isKept: (lookup) => isConversationKept(lookup),
  holdsPrompt: async (lookup) => (await conversationFiles(lookup)).length > 0,
  // Every result line has the figures of its own run.
  usageBefore: () => Promise.resolve(undefined),
  holdsWords: (search) => wordsInClaude(search),
  keptRequests: (search) => keptByClaude(search),
}

const launch = (request: LaunchRequest): LaunchPlan => {
  const fitted = fitParams({ id: "claude", name: NAME }, request.params ?? [])
  const session = sessionArgs(request, valueOf(fitted.groups, "--session-id"))
  const standing = standingArgs(request, valueOf(fitted.groups, "--append-system-prompt"))
  const rest = without(fitted.groups, "--session-id", "--append-system-prompt")
  const agent = agentArgs(request)
  const message = request.mode === "headless" ? { files: [] } : firstMessage(request)
  const headless = request.mode === "headless"
  const args = [
    ...(headless ? ["-p", "--output-format", "stream-json", "--verbose"] : []),
    ...(request.model === undefined ? [] : ["--model", request.model]),
    ...(request.effort === undefined ? [] : ["--effort", request.effort]),
    ...agent.args,
    ...standing.args,
    ...permissionArgs(request),
    ...mcpArgs(request),
    ...(headless && request.schema !== undefined ? ["--json-schema", JSON.stringify(request.schema)] : []),
    ...continuityArgs(request),
    ...(headless ? restArgs(request) : []),
    ...rest.flatMap((group) => group.words),
    ...session.args,
    // A prompt may begin with a dash. A single word may be a command (`mcp`); a blank after it prevents that.
    ...(message.text === undefined
      ? []
      : ["--", /\s/.test(message.text) ? message.text : `${message.text} `]),
  ]
  return {
    command: request.binary ?? claude.binary,
    args,
    cwd: request.cwd,
    // Claude refuses to start inside Claude while it sees this variable.
    environment: { PWD: request.cwd, CLAUDECODE: undefined, CLAUDE_CODE_ENTRYPOINT: undefined },
    stdin: headless ? { kind: "text", text: request.prompt ?? "" } : { kind: "inherit" },
    files: [...agent.files, ...standing.files, ...message.files],
    ...(session.id === undefined ? {} : { harnessSessionId: session.id }),
    warnings: fitted.warnings,
  }
}

const sessionArgs = (
  { session, params = [] }: LaunchRequest,
  asked: string | undefined,
): { readonly args: readonly string[]; readonly id: HarnessSessionId | undefined } => {
  if (session.kind === "continue") return { args: ["--resume", session.id], id: session.id }
  // The person chooses sessions by hand, and an id of ours would contradict them.
  if (params.some((word) => /^(-r|--resume|-c|--continue|--from-pr|--teleport)(=|$)/.test(word)))
    return { args: [], id: undefined }
  const chosen = asked ?? session.chosen
  const choose = chosen === undefined ? [] : ["--session-id", chosen]
  const id = chosen === undefined ? undefined : asSession(chosen)
  if (session.kind === "fork") return { args: ["--resume", session.id, "--fork-session", ...choose], id }
  return { args: choose, id }
}

interface ArgsAndFiles {
  readonly args: readonly string[]
  readonly files: readonly PlannedFile[]
}

const agentArgs = ({ agent, scratch }: LaunchRequest): ArgsAndFiles => {
  if (agent === undefined) return { args: [], files: [] }
  const json = JSON.stringify({
    [agent.name]: {
      description: agent.description === "" ? agent.name : agent.description,
      prompt: agent.body,
      ...(agent.tools === undefined ? {} : { tools: agent.tools }),
    },
  })
  if (fitsArgument(json)) return { args: ["--agents", json, "--agent", agent.name], files: [] }
  const path = join(scratch, "claude-agents.json")
  return { args: ["--agents", path, "--agent", agent.name], files: [{ path, content: json }] }
}

const standingArgs = (request: LaunchRequest, asked: string | undefined): ArgsAndFiles => {
  const text = [request.instructions, asked]
    .filter((part) => part !== undefined && part.trim() !== "")
    .join("\n\n")
  if (text === "" || (isToldAlready(request) && asked === undefined)) return { args: [], files: [] }
  // A resumed session replays its recorded system prompt. If it is told to look again, it needs all of it.
  const again = request.session.kind === "new" ? [] : ["--system-prompt-snapshot", "off"]
  if (fitsArgument(text)) return { args: ["--append-system-prompt", text, ...again], files: [] }
  const path = join(request.scratch, "claude-system-prompt.md")
  return { args: ["--append-system-prompt-file", path, ...again], files: [{ path, content: text }] }
}

const READ = ["Read", "Glob", "Grep", "Bash(git status)", "Bash(git log)", "Bash(git diff)"]
const WRITE = [...READ, "Edit", "Write", "NotebookEdit", "Bash(git add:*)", "Bash(git commit:*)"]
const FULL = [...WRITE, "Bash", "WebFetch", "WebSearch"]

interface Tier {
  readonly mode: string
  readonly tools: readonly string[]
  /** Refused even if the user's settings would allow them. */
  readonly never: readonly string[]
}

const TIERS: Readonly<Record<Exclude<PermissionTier, "danger">, Tier>> = {
  "read-only": { mode: "default", tools: READ, never: ["Edit", "Write", "NotebookEdit"] },
  "workspace-write": { mode: "acceptEdits", tools: WRITE, never: [] },
  "full-access": { mode: "acceptEdits", tools: FULL, never: [] },
}

/** Each list is one word, joined by `=`: the flags take any number of words and would swallow what follows. */
const permissionArgs = (request: LaunchRequest): readonly string[] => {
  const tier = request.permission ?? (request.mode === "headless" ? "read-only" : undefined)
  if (tier === "danger") return ["--dangerously-skip-permissions"]
  const servers = (request.mcpServers ?? []).map((server) => `mcp__${server.name}`)
  if (tier === undefined) {
    const tools = [...(request.allowedTools ?? []), ...servers]
    return tools.length === 0 ? [] : [`--allowedTools=${tools.join(",")}`]
  }
  const { mode, tools, never } = TIERS[tier]
  const allowed = request.allowedTools ?? tools
  const refused = never.filter((tool) => !allowed.includes(tool))
  return [
    "--permission-mode",
    mode,
    `--allowedTools=${[...allowed, ...servers].join(",")}`,
    ...(refused.length === 0 ? [] : [`--disallowedTools=${refused.join(",")}`]),
  ]
}

const mcpArgs = ({ mcpServers = [] }: LaunchRequest): readonly string[] => {
  if (mcpServers.length === 0) return []
  const servers = mcpServers.map(({ name, command, args, environment = {} }) => [
    name,
    { command, args, env: environment },
  ])
  return [`--mcp-config=${JSON.stringify({ mcpServers: Object.fromEntries(servers) })}`]
}

/** Added to existing settings. If a person gives their own, only those apply: the flag counts once. */
const continuityArgs = ({ continuity, params = [] }: LaunchRequest): readonly string[] =>
  continuity?.settings === undefined || params.some((word) => /^--settings(?:=|$)/.test(word))
    ? []
    : ["--settings", continuity.settings]

/** What a person says about it takes precedence over what we know. */
const restArgs = ({ rest, params = [] }: LaunchRequest): readonly string[] => {
  const isSaid = (flag: string): boolean =>
    params.some((word) => word === flag || word.startsWith(`${flag}=`))
  return [
    ...(rest?.cost === undefined || isSaid("--max-budget-usd")
      ? []
      : ["--max-budget-usd", String(Math.max(LEAST_BUDGET, Math.ceil(rest.cost * 10_000) / 10_000))]),
    ...(rest?.turns === undefined || isSaid("--max-turns") ? [] : ["--max-turns", String(rest.turns)]),
  ]
}

/** A run with nothing left is never launched. This only keeps the flag valid. */
const LEAST_BUDGET = 0.0001

const parser = (options: ParserOptions): StreamParser => {
  const calls = openCalls()
  /** Each part of a message has a line, and lines of sub-agents come between them. */
  const messages = new Set<string>()
  let lastText: string | undefined
  let result: JsonObject | undefined
  let usage: Usage | undefined

  const readAssistant = (line: JsonObject): readonly HarnessEvent[] => {
    const message = objectAt(line, "message")
    if (textAt(message, "model") === "<synthetic>") {
      const said = listAt(message, "content").map((block) => wordAt(asObject(block), "text"))
      return [{ type: "warning", message: said.join(" ") }]
    }
    // A sub-agent's words are for its parent, not the answer of the run.
    const own = textAt(line, "parent_tool_use_id") === undefined
    const id = wordAt(message, "id")
    const used = objectAt(message, "usage")
    const spending: readonly HarnessEvent[] =
      used === undefined || messages.has(id) ? [] : [{ type: "spending", usage: usageOfMessage(used) }]
    if (id !== "") messages.add(id)
    return [...partsOf(message, own), ...spending]
  }

  const partsOf = (message: JsonObject | undefined, own: boolean): readonly HarnessEvent[] =>
    listAt(message, "content").flatMap((value): readonly HarnessEvent[] => {
      const block = asObject(value)
      const kind = textAt(block, "type")
      if (kind === "text") {
        const text = wordAt(block, "text")
        if (own && text.trim() !== "") lastText = text
        return own ? [{ type: "text", text }] : []
      }
      if (kind === "thinking") return [{ type: "reasoning", text: wordAt(block, "thinking") }]
      if (kind !== "tool_use" || block === undefined) return []
      const call = wordAt(block, "id")
      const tool = wordAt(block, "name")
      calls.open(call, { tool, files: filesOf(tool, objectAt(block, "input")) })
      return [{ type: "tool.started", call, tool, input: block["input"] ?? {} }]
    })

  const readToolResult = (block: JsonObject | undefined): readonly HarnessEvent[] => {
    if (wordAt(block, "type") !== "tool_result") return []
    const call = wordAt(block, "tool_use_id")
    const { tool, files } = calls.close(call)
    const status = block?.["is_error"] === true ? "failed" : "completed"
    const written = status === "failed" ? [] : files
    return [
      { type: "tool.ended", call, tool, status, output: outputOf(block) },
      ...written.map((path) => ({ type: "file", path, change: "written" }) as const),
    ]
  }

  const readResult = (line: JsonObject): readonly HarnessEvent[] => {
    result = line
    const run = usageOf(line, options)
    usage = usage === undefined || run === undefined ? run : addUsage(usage, run)
    return [
      ...(run === undefined ? [] : [{ type: "usage", usage: run } as const]),
      { type: "turn.ended", reason: textAt(line, "terminal_reason") ?? wordAt(line, "subtype") },
    ]
  }

  return streamParser({
    // Lines of hooks may carry ids of other sessions.
    session: (line) => (isHook(line) ? undefined : textAt(line, "session_id")),
    sessionPattern: /"session_id":"([^"\\]{1,200})"/,
    read: (line) => {
      switch (wordAt(line, "type")) {
        case "assistant":
          return readAssistant(line)
        case "user":
          return listAt(objectAt(line, "message"), "content").flatMap((block) =>
            readToolResult(asObject(block)),
          )
        case "result":
          return readResult(line)
        case "system":
          return readSystem(line)
        // Pieces of the text that the next assistant line repeats whole.
        case "stream_event":
          return []
        default:
          return [other(wordAt(line, "type"), line)]
      }
    },
    outcome: ({ exitCode }) => {
      const failure = result === undefined ? undefined : failureIn(result)
      const value = failure === undefined ? result?.["structured_output"] : undefined
      const answer =
        value === undefined
          ? failure === undefined
            ? textAt(result, "result")
            : undefined
          : JSON.stringify(value)
      const report = answer === undefined || answer.trim() === "" ? lastText : answer
      return {
        complete: result !== undefined && failure === undefined && exitCode === 0,
        ...(failure === undefined ? {} : { failure }),
        ...(report === undefined ? {} : { report }),
        ...(usage === undefined ? {} : { usage }),
      }
    },
  })
}

const isHook = (line: JsonObject): boolean => textAt(line, "subtype")?.startsWith("hook_") === true

const readSystem = (line: JsonObject): readonly HarnessEvent[] => {
  switch (wordAt(line, "subtype")) {
    case "init":
      return []
    case "api_retry":
      return readRetry(line)
    case "status":
      if (textAt(line, "status") === "compacting") return [{ type: "compaction", phase: "started" }]
      return textAt(line, "compact_result") === "failed" ? [{ type: "compaction", phase: "failed" }] : []
    case "compact_boundary": {
      const about = objectAt(line, "compact_metadata")
      return [
        {
          type: "compaction",
          phase: "ended",
          tokensBefore: countAt(about, "pre_tokens"),
          tokensAfter: countAt(about, "post_tokens"),
        },
      ]
    }
    default:
      return [other(textAt(line, "subtype") ?? "system", line)]
  }
}

const readRetry = (line: JsonObject): readonly HarnessEvent[] => {
  const attempt = countAt(line, "attempt")
  const status = numberAt(line, "error_status")
  const said = textAt(line, "error") ?? "unknown"
  const failure = status === undefined && said === "unknown" ? "connection" : classify(said, status)
  const message = `The provider refused (${status ?? "no answer"}: ${said}).`
  const retry: HarnessEvent = { type: "retry", attempt, failure, message }
  return failure === "authentication" && attempt >= LIMITS.authenticationRetries
    ? [retry, { type: "give-up", failure, message }]
    : [retry]
}

/** `subtype` is "success" on API errors too: `is_error` decides. */
const failureIn = (result: JsonObject): HarnessFailure | undefined => {
  const isError = result["is_error"] ?? textAt(result, "subtype")?.startsWith("error") ?? false
  if (isError === false) return undefined
  const errors = listAt(result, "errors").filter((value) => typeof value === "string")
  const message = textAt(result, "result") ?? errors.join(" ")
  const said = message === "" ? (textAt(result, "subtype") ?? "error") : message
  if (/^error_max_(?:budget|turns)/.test(wordAt(result, "subtype")))
    return failureOf("budget", sayLimit(result))
  if (textAt(result, "terminal_reason") === "prompt_too_long") return failureOf("context_overflow", said)
  return failureOf(classify(said, numberAt(result, "api_error_status")), said)
}

const sayLimit = (result: JsonObject): string =>
  wordAt(result, "subtype").startsWith("error_max_turns")
    ? "It took as many turns as it may."
    : "It cost as much as it may."

/** `total_cost_usd` and `modelUsage` add up over a resumed session. The usage since the last result does not. */
const usageOf = (result: JsonObject, options: ParserOptions): Usage | undefined => {
  const since = objectAt(result, "model_usage_since_last_result")
  if (since !== undefined) {
    return Object.values(since).reduce<Usage>((sum, value) => {
      const model = asObject(value)
      return addUsage(sum, {
        inputTokens: countAt(model, "inputTokens"),
        cachedInputTokens: countAt(model, "cacheReadInputTokens"),
        outputTokens: countAt(model, "outputTokens"),
        costUsd: countAt(model, "costUSD"),
      })
    }, FREE)
  }
  const tokens = objectAt(result, "usage")
  if (tokens === undefined) return undefined
  const total = numberAt(result, "total_cost_usd")
  return {
    inputTokens: countAt(tokens, "input_tokens"),
    cachedInputTokens: countAt(tokens, "cache_read_input_tokens"),
    outputTokens: countAt(tokens, "output_tokens"),
    ...(total === undefined || options.continued === true ? {} : { costUsd: total }),
  }
}

/** The usage of one request, as reported when its answer began. */
const usageOfMessage = (usage: JsonObject): Usage => ({
  inputTokens: countAt(usage, "input_tokens") + countAt(usage, "cache_creation_input_tokens"),
  cachedInputTokens: countAt(usage, "cache_read_input_tokens"),
  outputTokens: countAt(usage, "output_tokens"),
})

const FREE: Usage = { ...NO_USAGE, costUsd: 0 }

const filesOf = (tool: string, input: JsonObject | undefined): readonly string[] => {
  if (!["Edit", "MultiEdit", "Write", "NotebookEdit"].includes(tool)) return []
  return [textAt(input, "file_path") ?? textAt(input, "notebook_path") ?? []].flat()
}

const outputOf = (block: JsonObject | undefined): string => {
  const content = block?.["content"]
  if (typeof content === "string") return content
  return listAt(block, "content")
    .map((value) => wordAt(asObject(value), "text"))
    .join("\n")
}
