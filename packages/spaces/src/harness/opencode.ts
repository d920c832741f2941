/**
 * OpenCode (1.18): `opencode run --format json --dir DIR`, prompt on stdin. Its exit code is wrong both ways, so the
 * stream decides.
 */
import { basename, join } from "node:path"

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
  Environment,
  Harness,
  HarnessEvent,
  HarnessFailure,
  LaunchPlan,
  LaunchRequest,
  PlannedFile,
  StreamParser,
  Usage,
} from "../port/harness.ts"
import { classify, failureOf } from "./classify.ts"
import { firstMessage } from "./first-message.ts"
import { isToldAlready, promptWith, standingText } from "./instructions.ts"
import { LIMITS } from "./limits.ts"
import { findOpencodeSession, keptByOpencode, wordsInOpencode } from "./opencode-sessions.ts"
import { fitParams } from "./params.ts"
import { other, streamParser } from "./stream-parser.ts"
import { addUsage } from "./usage.ts"

const NAME = "OpenCode"
const INSTRUCTIONS = "meridian-instructions.md"

export const opencode: Harness = {
  id: "opencode",
  name: NAME,
  binary: "opencode",
  steering: "tool",
  capabilities: {
    fork: true,
    chooseSession: false,
    reopenSession: false,
    nativeAgent: false,
    nativeSkills: true,
    systemPrompt: false,
    cost: true,
    interactive: true,
    schema: false,
  },
  launch: (request) => launch(request),
  parser: () => parser(),
  findSession: (search) => findOpencodeSession(search, opencode.binary),
  // Its first event names the session, which is created with the prompt in it.
  holdsPrompt: () => Promise.resolve(true),
  // Every step reports its own tokens.
  usageBefore: () => Promise.resolve(undefined),
  holdsWords: (search) => wordsInOpencode(search),
  keptRequests: (search) => keptByOpencode(search),
}

const launch = (request: LaunchRequest): LaunchPlan => {
  const headless = request.mode === "headless"
  const fitted = fitParams({ id: "opencode", name: NAME }, request.params ?? [])
  const standing = standingFile(request)
  const message = headless ? { files: [] } : firstMessage(request)
  const { session } = request
  const args = [
    // OpenCode takes the folder from PWD, not from the process, so we pass it both ways.
    ...(headless ? ["run", "--format", "json", "--dir", request.cwd] : [request.cwd]),
    ...(request.model === undefined ? [] : ["--model", request.model]),
    ...(request.effort === undefined ? [] : headless ? ["--variant", request.effort] : []),
    ...(request.permission === "danger" ? ["--auto"] : []),
    ...(session.kind === "new" ? [] : ["--session", session.id]),
    ...(session.kind === "fork" ? ["--fork"] : []),
    ...(message.text === undefined ? [] : ["--prompt", message.text]),
    ...fitted.args,
  ]
  return {
    command: request.binary ?? opencode.binary,
    args,
    cwd: request.cwd,
    environment: environmentOf(request, standing),
    stdin: headless ? { kind: "text", text: headlessPrompt(request) } : { kind: "inherit" },
    files: [...standing, ...message.files],
    ...(session.kind === "continue" ? { harnessSessionId: session.id } : {}),
    warnings: fitted.warnings,
  }
}

const headlessPrompt = (request: LaunchRequest): string =>
  promptWith(isToldAlready(request) ? "" : standingText(request), request.prompt ?? "")

/**
 * A terminal session may have no prompt. The text becomes an instruction file of this launch, so every launch brings
 * it.
 */
const standingFile = (request: LaunchRequest): readonly PlannedFile[] => {
  const text = request.mode === "headless" ? "" : standingText(request)
  return text === "" ? [] : [{ path: join(request.scratch, INSTRUCTIONS), content: text }]
}

/** Looking, planning and reading skills, by the names of OpenCode's own tools. */
const READ = {
  "*": "deny",
  read: "allow",
  grep: "allow",
  glob: "allow",
  list: "allow",
  skill: "allow",
  todoread: "allow",
  todowrite: "allow",
}

const TIERS = {
  "read-only": READ,
  "workspace-write": { ...READ, edit: "allow", bash: "deny" },
  "full-access": { "*": "allow" },
  danger: { "*": "allow" },
} as const satisfies Record<PermissionTier, JsonObject>

const environmentOf = (request: LaunchRequest, standing: readonly PlannedFile[]): Environment => {
  const tier = request.permission ?? (request.mode === "headless" ? "read-only" : undefined)
  const { environment } = request
  const config = configOf(request, standing)
  return {
    PWD: request.cwd,
    ...(tier === undefined ? {} : { OPENCODE_PERMISSION: JSON.stringify(permissionsOf(request, tier)) }),
    ...(config === undefined ? {} : { OPENCODE_CONFIG_CONTENT: config }),
    // With a plugin and no network, OpenCode asks the registry for over a minute before its first word.
    ...quickRetries(environment),
  }
}

const permissionsOf = (request: LaunchRequest, tier: PermissionTier): JsonObject => ({
  ...TIERS[tier],
  ...allowedIn(request.allowedTools ?? []),
  ...Object.fromEntries((request.mcpServers ?? []).map((server) => [`${server.name}_*`, "allow"])),
})

/** Lists of tools are written as Claude names them: `Edit`, `Bash(npm test)`. */
const allowedIn = (tools: readonly string[]): JsonObject => {
  const allowed: Record<string, JsonObject | "allow"> = {}
  for (const tool of tools) {
    const [, name = "", pattern] = /^([\w*-]+)(?:\((.*)\))?$/s.exec(tool) ?? []
    const key = SAME_RIGHT[name] ?? name.toLowerCase()
    if (key === "") continue
    const known = allowed[key]
    if (pattern === undefined) allowed[key] = "allow"
    else if (known !== "allow")
      allowed[key] = { "*": "deny", ...known, [pattern.replace(/:\*$/, " *")]: "allow" }
  }
  return allowed
}

const SAME_RIGHT: Readonly<Record<string, string>> = { Write: "edit", NotebookEdit: "edit", LS: "list" }

/**
 * Merged over what the user already passes in the same variable. If this launch comes from another conversation, that
 * conversation's instructions are left out.
 */
const configOf = (request: LaunchRequest, standing: readonly PlannedFile[]): string | undefined => {
  const { mcpServers = [], environment, continuity } = request
  const given = parseObject(environment["OPENCODE_CONFIG_CONTENT"] ?? "{}") ?? {}
  const inherited = listAt(given, "instructions")
  const theirs = inherited.filter((path) => typeof path !== "string" || basename(path) !== INSTRUCTIONS)
  const plugin = continuity?.plugin
  if (
    plugin === undefined &&
    mcpServers.length === 0 &&
    standing.length === 0 &&
    theirs.length === inherited.length
  )
    return undefined
  const servers = mcpServers.map((server) => [
    server.name,
    { type: "local", command: [server.command, ...server.args], environment: server.environment ?? {} },
  ])
  return JSON.stringify({
    ...given,
    ...(servers.length === 0 ? {} : { mcp: { ...objectAt(given, "mcp"), ...Object.fromEntries(servers) } }),
    ...(plugin === undefined ? {} : { plugin: [...new Set([...listAt(given, "plugin"), plugin])] }),
    ...(inherited.length + standing.length === 0
      ? {}
      : { instructions: [...theirs, ...standing.map((file) => file.path)] }),
  })
}

const quickRetries = (environment: Environment): Environment =>
  Object.fromEntries(
    [
      ["npm_config_fetch_retry_mintimeout", "200"],
      ["npm_config_fetch_retry_maxtimeout", "1000"],
    ].filter(([name = ""]) => environment[name] === undefined),
  )

const parser = (): StreamParser => {
  let lastText: string | undefined
  let lastReason: string | undefined
  let rejected: string | undefined
  let failure: HarnessFailure | undefined
  let usage: Usage | undefined
  let idleCompactions = 0

  const readText = (part: JsonObject | undefined): readonly HarnessEvent[] => {
    const text = wordAt(part, "text")
    if (part?.["synthetic"] === true) {
      // OpenCode's own "Continue…" after a compaction. It has no guard against endless compactions.
      if (objectAt(part, "metadata")?.["compaction_continue"] !== true) return []
      idleCompactions += 1
      lastReason = undefined
      const ended: HarnessEvent = { type: "compaction", phase: "ended" }
      if (idleCompactions < LIMITS.idleCompactions) return [ended]
      const message = `OpenCode compacted ${idleCompactions} times in a row without doing anything.`
      return [ended, { type: "give-up", failure: "runaway", message }]
    }
    if (text.trim() !== "") lastText = text
    return [{ type: "text", text }]
  }

  const readTool = (part: JsonObject | undefined): readonly HarnessEvent[] => {
    idleCompactions = 0
    const call = wordAt(part, "callID")
    const tool = wordAt(part, "tool")
    const state = objectAt(part, "state")
    const failed = textAt(state, "status") === "error"
    const output = (failed ? textAt(state, "error") : textAt(state, "output")) ?? ""
    if (failed && /rejected permission/i.test(output)) rejected = `${tool}: ${output}`
    return [
      { type: "tool.started", call, tool, input: state?.["input"] ?? {} },
      { type: "tool.ended", call, tool, status: failed ? "failed" : "completed", output },
      ...(failed ? [] : filesOf(tool, state)),
    ]
  }

  const readStep = (part: JsonObject | undefined): readonly HarnessEvent[] => {
    lastReason = wordAt(part, "reason")
    if (lastReason === "stop") failure = undefined
    const step = usageOf(part)
    usage = usage === undefined ? step : addUsage(usage, step)
    return [
      { type: "usage", usage: step },
      { type: "turn.ended", reason: lastReason },
    ]
  }

  const readError = (error: JsonObject | undefined): readonly HarnessEvent[] => {
    failure = failureIn(error)
    lastReason = undefined
    return [{ type: "error", failure: failure.class, message: failure.message }]
  }

  return streamParser({
    session: (line) => textAt(line, "sessionID"),
    sessionPattern: /"sessionID":"([^"\\]{1,200})"/,
    read: (line) => {
      const part = objectAt(line, "part")
      switch (wordAt(line, "type")) {
        case "step_start":
          lastReason = undefined
          return []
        case "text":
          return readText(part)
        case "reasoning":
          return [{ type: "reasoning", text: wordAt(part, "text") }]
        case "tool_use":
          return readTool(part)
        case "step_finish":
          return readStep(part)
        case "error":
          return readError(objectAt(line, "error"))
        default:
          return [other(wordAt(line, "type"), line)]
      }
    },
    outcome: ({ exitCode, signal }) => {
      const reason = failure ?? unfinished(lastReason, rejected)
      return {
        complete: lastReason === "stop" && signal === null && (exitCode === 0 || exitCode === 1),
        ...(reason === undefined ? {} : { failure: reason }),
        ...(lastText === undefined ? {} : { report: lastText }),
        ...(usage === undefined ? {} : { usage }),
      }
    },
  })
}

/** A turn that did not end with an answer, even if the process exited with 0. */
const unfinished = (reason: string | undefined, rejected: string | undefined): HarnessFailure | undefined => {
  if (rejected !== undefined) return failureOf("permission_rejected", rejected)
  if (reason === "length")
    return failureOf("incomplete", "The answer was cut at the output limit of the model.")
  return undefined
}

const failureIn = (error: JsonObject | undefined): HarnessFailure => {
  const data = objectAt(error, "data")
  const name = textAt(error, "name") ?? "error"
  const said = textAt(data, "message") ?? name
  // This is all it says about an unknown model or provider.
  const message = name === "UnknownError" ? `${said} Is the model known to OpenCode?` : said
  if (name === "ContextOverflowError") return failureOf("context_overflow", message)
  if (name === "ProviderAuthError") return failureOf("authentication", message)
  if (name === "ProviderModelNotFoundError") return failureOf("model_not_found", message)
  const status = numberAt(data, "statusCode")
  const kind = classify(`${message} ${wordAt(data, "responseBody")}`, status)
  const silent = kind === "unclassified" && status === undefined && data?.["isRetryable"] === true
  return failureOf(silent ? "connection" : kind, message)
}

/** `input` excludes tokens read from a cache and written to it, `output` excludes reasoning. */
const usageOf = (part: JsonObject | undefined): Usage => {
  const tokens = objectAt(part, "tokens")
  const cache = objectAt(tokens, "cache")
  return {
    inputTokens: countAt(tokens, "input") + countAt(cache, "write"),
    cachedInputTokens: countAt(cache, "read"),
    outputTokens: countAt(tokens, "output") + countAt(tokens, "reasoning"),
    costUsd: countAt(part, "cost"),
  }
}

const filesOf = (tool: string, state: JsonObject | undefined): readonly HarnessEvent[] => {
  const written = (path: string): HarnessEvent => ({ type: "file", path, change: "written" })
  if (tool === "write" || tool === "edit") {
    const path = textAt(objectAt(state, "input"), "filePath")
    return path === undefined ? [] : [written(path)]
  }
  if (tool !== "apply_patch" && tool !== "patch") return []
  return listAt(objectAt(state, "metadata"), "files").flatMap((value): readonly HarnessEvent[] => {
    const file = asObject(value)
    const path = textAt(file, "filePath") ?? textAt(file, "path")
    if (path === undefined) return []
    return textAt(file, "type") === "delete" ? [{ type: "file", path, change: "deleted" }] : [written(path)]
  })
}
