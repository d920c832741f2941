/**
 * A model that goes round in circles: a turn with one call after the other, until the harness is ended. The usage of a turn
 * is reported and stored where the real harness does it: Claude's lines omit output tokens, Codex's report nothing before
 * the end. Each answered turn is a line of `<launcher>.rounds.jsonl`, whatever becomes of the harness.
 */
import { appendFileSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"

import type { PretendName } from "./behaviour.ts"

export interface Circling {
  readonly session: string
  readonly model: string
  readonly launcher: string
  readonly home: string
  /** The file with everything it prints. */
  readonly events: string
  readonly say: (lines: readonly object[]) => void
}

/** The tokens of a turn that costs 30 cents at the model's price. */
const USED = {
  claude: { input: 50_000, output: 20_000 },
  codex: { input: 11_429, output: 20_000 },
  opencode: { input: 20_000, output: 16_000 },
} as const satisfies Record<PretendName, object>

export const goInCircles = async (
  name: PretendName,
  circling: Circling,
  { everyMs }: { readonly everyMs: number },
): Promise<never> => {
  for (let round = 1; ; round += 1) {
    await pause(everyMs)
    const id = `${process.pid}_${round}`
    ROUNDS[name](circling, id)
    while (!wasHeard(circling, id)) await pause(HEARD_MS)
  }
}

const HEARD_MS = 20

/** On a busy machine it must not run ahead of its observer. */
const wasHeard = ({ events }: Circling, id: string): boolean => readFileSync(events, "utf8").includes(id)

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

type Round = (circling: Circling, id: string) => void

const note = ({ launcher }: Circling, id: string): void =>
  appendFileSync(`${launcher}.rounds.jsonl`, `${JSON.stringify({ id, at: Date.now() })}\n`)

const keptFile = (home: string, pattern: string): string => {
  const [found] = globSync(pattern, { cwd: home })
  if (found === undefined)
    throw new Error(`no ${pattern} in ${home}: the pretend harness has to keep its session`)
  return join(home, found)
}

const claude: Round = (circling, id) => {
  const { session, home, say } = circling
  const model = circling.model === "sonnet" ? "claude-sonnet-5-5" : circling.model
  const call = { type: "tool_use", id: `toolu_${id}`, name: "Bash", input: { command: "true" } }
  const line = (written: number) => ({
    type: "assistant",
    session_id: session,
    parent_tool_use_id: null,
    timestamp: new Date().toISOString(),
    message: {
      id: `msg_${id}`,
      model,
      role: "assistant",
      content: [call],
      usage: { input_tokens: USED.claude.input, output_tokens: written },
    },
  })
  appendFileSync(
    keptFile(home, `.claude/projects/*/${session}.jsonl`),
    `${JSON.stringify(line(USED.claude.output))}\n`,
  )
  note(circling, id)
  const result = { type: "tool_result", tool_use_id: call.id, content: "done" }
  say([line(1), { type: "user", session_id: session, message: { role: "user", content: [result] } }])
}

const codex: Round = (circling, id) => {
  const { session, home, model, say } = circling
  const usage = { input_tokens: USED.codex.input, cached_input_tokens: 0, output_tokens: USED.codex.output }
  const kept = (type: string, payload: object): string =>
    `${JSON.stringify({ timestamp: new Date().toISOString(), type, payload })}\n`
  appendFileSync(
    keptFile(home, `.codex/sessions/*/*/*/rollout-*-${session}.jsonl`),
    kept("turn_context", { model }) + kept("token_usage_record", { thread_id: session, usage }),
  )
  note(circling, id)
  const item = { id, type: "command_execution", command: "true", status: "in_progress" }
  say([
    { type: "item.started", item },
    { type: "item.completed", item: { ...item, aggregated_output: "", exit_code: 0, status: "completed" } },
  ])
}

const opencode: Round = (circling, id) => {
  const { session, say } = circling
  const line = (type: string, part: object): object => ({
    type,
    timestamp: Date.now(),
    sessionID: session,
    part,
  })
  note(circling, id)
  say([
    line("tool_use", { tool: "bash", callID: id, state: { status: "completed", input: {}, output: "" } }),
    line("step_finish", {
      reason: "tool-calls",
      cost: 0.3,
      tokens: { ...USED.opencode, reasoning: 0, cache: { read: 0, write: 0 } },
    }),
  ])
}

const ROUNDS: Readonly<Record<PretendName, Round>> = { claude, codex, opencode }
