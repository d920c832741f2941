/** The streams of the three CLIs, limited to what a pretend one prints: shapes as in `test/fixture/recordings`. */
import type { PretendFailure, PretendName } from "./behaviour.ts"

export interface Spoken {
  readonly begin: readonly object[]
  readonly answer: (text: string) => readonly object[]
  readonly fail: (
    failure: PretendFailure,
    said?: string,
  ) => { readonly lines: readonly object[]; readonly exitCode: number }
}

const REFUSALS: Readonly<Record<PretendFailure, readonly [status: number, words: string]>> = {
  rate_limit: [429, "Rate limit reached"],
  overload: [529, "Overloaded"],
  server_error: [500, "Internal server error"],
  authentication: [401, "invalid x-api-key"],
  context_overflow: [400, "This model's maximum context length is 200000 tokens."],
}

/** What each CLI prints, and where, about an unknown session. */
export const UNKNOWN_SESSION: Readonly<
  Record<PretendName, { readonly lines: readonly object[]; readonly stderr: string }>
> = {
  claude: {
    lines: [
      {
        type: "result",
        subtype: "error_during_execution",
        is_error: true,
        errors: ["No conversation found with session ID: 0"],
      },
    ],
    stderr: "No conversation found with session ID: 0\n",
  },
  codex: { lines: [], stderr: "Error: no rollout found for thread id 0\n" },
  opencode: { lines: [], stderr: "Error: Session not found\n" },
}

export const speak = (name: PretendName, session: string): Spoken => DIALECTS[name](session)

const claude = (session: string): Spoken => {
  const result = (fields: object): object => ({
    type: "result",
    session_id: session,
    subtype: "success",
    ...fields,
  })
  return {
    begin: [{ type: "system", subtype: "init", session_id: session, model: "pretend", cwd: process.cwd() }],
    answer: (text) => [
      {
        type: "assistant",
        session_id: session,
        parent_tool_use_id: null,
        message: { role: "assistant", content: [{ type: "text", text }] },
      },
      result({
        is_error: false,
        result: text,
        terminal_reason: "completed",
        total_cost_usd: 0.00525,
        usage: { input_tokens: 1200, cache_read_input_tokens: 300, output_tokens: 7 },
        model_usage_since_last_result: {
          pretend: { inputTokens: 1200, cacheReadInputTokens: 300, outputTokens: 7, costUSD: 0.00525 },
        },
      }),
    ],
    fail: (failure, said) => {
      const [status, usual] = REFUSALS[failure]
      const words = said ?? usual
      const reason = failure === "context_overflow" ? "prompt_too_long" : "api_error"
      const text = `API Error: ${status} ${words}`
      return {
        lines: [result({ is_error: true, result: text, terminal_reason: reason, api_error_status: status })],
        exitCode: 1,
      }
    },
  }
}

const codex = (session: string): Spoken => ({
  begin: [{ type: "thread.started", thread_id: session }, { type: "turn.started" }],
  answer: (text) => [
    { type: "item.completed", item: { id: "item_1", type: "agent_message", text } },
    {
      type: "turn.completed",
      usage: { input_tokens: 1500, cached_input_tokens: 300, output_tokens: 7, reasoning_output_tokens: 2 },
    },
  ],
  fail: (failure, said) => {
    const [status, usual] = REFUSALS[failure]
    const words = said ?? usual
    return {
      lines: [{ type: "turn.failed", error: { message: `unexpected status ${status}: ${words}` } }],
      exitCode: 1,
    }
  },
})

const opencode = (session: string): Spoken => {
  const line = (type: string, part: object): object => ({ type, timestamp: 0, sessionID: session, part })
  return {
    begin: [line("step_start", { type: "step-start" })],
    answer: (text) => [
      line("text", { type: "text", text }),
      line("step_finish", {
        type: "step-finish",
        reason: "stop",
        cost: 0.0081,
        tokens: { total: 1507, input: 1200, output: 7, reasoning: 0, cache: { read: 300, write: 0 } },
      }),
    ],
    fail: (failure, said) => {
      const [statusCode, usual] = REFUSALS[failure]
      const message = said ?? usual
      const name = failure === "context_overflow" ? "ContextOverflowError" : "APIError"
      return {
        lines: [
          { type: "error", timestamp: 0, sessionID: session, error: { name, data: { message, statusCode } } },
        ],
        exitCode: 1,
      }
    },
  }
}

const DIALECTS: Readonly<Record<PretendName, (session: string) => Spoken>> = { claude, codex, opencode }
