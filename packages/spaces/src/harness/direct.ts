/**
 * Meridian's own engine as a harness: this program again, with its internal command `direct`. The prompt goes through
 * stdin (headless) or, with everything else that may be long, through a file of the launch.
 */
import { join } from "node:path"

import { textAt, type Caps } from "@meridian/protocol"

import type { Rest } from "../domain/run-caps.ts"
import type {
  Harness,
  HarnessEvent,
  HarnessFailure,
  LaunchPlan,
  LaunchRequest,
  PlannedFile,
  StreamParser,
  Usage,
} from "../port/harness.ts"
import { failureOf } from "./classify.ts"
import { readDirectLine } from "./direct-lines.ts"
import { readDirectParams } from "./direct-params.ts"
import { encodeLaunchFile } from "./launch-file.ts"
import { fitParams } from "./params.ts"
import { asSession, streamParser } from "./stream-parser.ts"
import { addUsage } from "./usage.ts"

const NAME = "Direct"

/** `program` starts this command again. */
export const direct = (program: readonly [command: string, ...args: readonly string[]]): Harness => ({
  id: "direct",
  name: NAME,
  binary: program[0],
  steering: "step",
  capabilities: {
    fork: true,
    chooseSession: true,
    reopenSession: true,
    nativeAgent: true,
    nativeSkills: true,
    systemPrompt: true,
    cost: true,
    interactive: true,
    schema: true,
  },
  checkParams: (params) => void readDirectParams(params),
  launch: (request) => launch(program, request),
  parser: () => directParser(),
  // The id is always chosen before the launch.
  findSession: () => Promise.resolve(undefined),
  // Every turn reports its own tokens.
  usageBefore: () => Promise.resolve(undefined),
})

const launch = (program: readonly [string, ...(readonly string[])], request: LaunchRequest): LaunchPlan => {
  const headless = request.mode === "headless"
  const fitted = fitParams({ id: "direct", name: NAME }, request.params ?? [])
  const session = sessionArgs(request)
  const files = launchFile(request)
  const permission = request.permission ?? (headless ? "read-only" : undefined)
  const [command, ...first] = program
  return {
    command: request.binary ?? command,
    args: [
      ...first,
      "direct",
      ...(headless ? ["--headless"] : []),
      ...session.args,
      ...(request.model === undefined ? [] : ["--model", request.model]),
      ...(request.effort === undefined ? [] : ["--effort", request.effort]),
      ...(permission === undefined ? [] : ["--permission", permission]),
      ...(request.sandbox === undefined ? [] : ["--sandbox", request.sandbox]),
      ...files.flatMap((file) => ["--launch", file.path]),
      ...(fitted.args.length === 0 ? [] : ["--", ...fitted.args]),
    ],
    cwd: request.cwd,
    environment: { PWD: request.cwd },
    stdin: headless ? { kind: "text", text: request.prompt ?? "" } : { kind: "inherit" },
    files,
    ...(session.id === undefined ? {} : { harnessSessionId: session.id }),
    warnings: fitted.warnings,
  }
}

const sessionArgs = ({
  session,
}: LaunchRequest): {
  readonly args: readonly string[]
  readonly id: ReturnType<typeof asSession>
} => {
  if (session.kind === "continue") return { args: ["--continue", session.id], id: session.id }
  const own = session.chosen === undefined ? [] : ["--session", session.chosen]
  const id = session.chosen === undefined ? undefined : asSession(session.chosen)
  return { args: session.kind === "fork" ? ["--fork", session.id, ...own] : own, id }
}

const launchFile = (request: LaunchRequest): readonly PlannedFile[] => {
  const { agent, instructions, allowedTools, schema, mcpServers = [], rest, words = [], asks } = request
  const prompt = request.mode === "headless" ? undefined : request.prompt
  const content = encodeLaunchFile({
    ...(prompt === undefined || prompt === "" ? {} : { prompt }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(agent === undefined ? {} : { agent: { name: agent.name, body: agent.body } }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    ...(schema === undefined || request.mode !== "headless" ? {} : { schema }),
    ...(rest === undefined ? {} : { budget: budgetOf(rest) }),
    ...(words.length === 0 ? {} : { words }),
    ...(asks === true ? { asks } : {}),
    ...(mcpServers.length === 0 ? {} : { mcpServers }),
  })
  return Object.keys(content).length === 0
    ? []
    : [{ path: join(request.scratch, "direct-launch.json"), content: JSON.stringify(content) }]
}

/** A cap that is used up ends the run before its launch, so none of these is 0. */
const budgetOf = ({ cost, tokens, turns, timeMs }: Rest): Caps => {
  const given = { maxCost: cost, maxTokens: tokens, maxTurns: turns, maxTimeMs: timeMs }
  return Object.fromEntries(Object.entries(given).filter(([, amount]) => amount !== undefined && amount > 0))
}

const failureIn = ({
  failure,
  message,
  retryAfterMs,
}: Extract<HarnessEvent, { type: "error" }>): HarnessFailure => ({
  ...failureOf(failure, message),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})

/** For any program that prints the lines of `direct-lines.ts`. */
export const directParser = (): StreamParser => {
  let lastText: string | undefined
  let failure: HarnessFailure | undefined
  let usage: Usage | undefined
  let ended = false

  return streamParser({
    session: (line) => (textAt(line, "type") === "session" ? textAt(line, "session_id") : undefined),
    sessionPattern: /"session_id":"([^"\\]{1,200})"/,
    read: (line): readonly HarnessEvent[] => {
      const event = readDirectLine(line)
      if (event === undefined) return []
      if (event.type === "ended") {
        ended = true
        return []
      }
      if (event.type === "text" && event.text.trim() !== "") lastText = event.text
      if (event.type === "usage") usage = usage === undefined ? event.usage : addUsage(usage, event.usage)
      if (event.type === "error") failure = failureIn(event)
      return [event]
    },
    outcome: ({ exitCode }) => ({
      complete: ended && failure === undefined && exitCode === 0,
      ...(failure === undefined ? {} : { failure }),
      ...(lastText === undefined ? {} : { report: lastText }),
      ...(usage === undefined ? {} : { usage }),
    }),
  })
}
