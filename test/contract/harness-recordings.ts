/**
 * Every recorded run of a real CLI (`test/fixture/recordings`) with its expected verdict. Each row was checked by hand
 * against the recording; `.meta` has the exit code, `.stderr` what was printed there.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { harnessSessionId } from "@meridian/protocol"
import { type FailureClass, TRANSIENT, type Usage, type Verdict } from "@meridian/spaces"
import type { RecordedRun } from "@meridian/testkit/contract/harness"

const FOLDER = join(import.meta.dirname, "../fixture/recordings")

/** Input without cached, cached, output, dollars. */
type Figures = readonly [input: number, cached: number, output: number, cost?: number]

interface Row {
  readonly continued?: true
  /** Absent: it succeeded. */
  readonly failed?: readonly [FailureClass, message: string]
  readonly session?: string
  readonly report?: string
  readonly usage?: Figures
  /** The thread so far, if the stream reports totals. */
  readonly sessionUsage?: Figures
}

export const recordedRuns = (harness: string): readonly RecordedRun[] =>
  Object.entries(ROWS)
    .filter(([name]) => name.startsWith(`${harness}-`))
    .map(([name, row]) => ({
      name,
      stdout: readFileSync(join(FOLDER, `${name}.jsonl`)),
      end: { exitCode: exitCodeOf(name), signal: null, stderrTail: textOf(`${name}.stderr`) },
      continued: row.continued === true,
      expected: verdictOf(row),
    }))

/** Recordings without a row, and rows without a recording. */
export const unmatched = (): readonly string[] => {
  const recorded = readdirSync(FOLDER).flatMap((file) => (file.endsWith(".jsonl") ? [file.slice(0, -6)] : []))
  return recorded
    .filter((name) => !(name in ROWS))
    .concat(Object.keys(ROWS).filter((name) => !recorded.includes(name)))
}

const textOf = (file: string): string => {
  const path = join(FOLDER, file)
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}

/** The run that went in circles was killed by hand and has no exit code. */
const exitCodeOf = (name: string): number => Number(/rc=(\d+)/.exec(textOf(`${name}.meta`))?.[1] ?? 1)

const verdictOf = (row: Row): Verdict => ({
  ...(row.failed === undefined
    ? { status: "succeeded" }
    : {
        status: "failed",
        failure: { class: row.failed[0], message: row.failed[1], transient: TRANSIENT[row.failed[0]] },
      }),
  ...(row.session === undefined ? {} : { harnessSessionId: harnessSessionId(row.session) }),
  ...(row.report === undefined ? {} : { report: row.report }),
  ...(row.usage === undefined ? {} : { usage: usageOf(row.usage) }),
  ...(row.sessionUsage === undefined ? {} : { sessionUsage: usageOf(row.sessionUsage) }),
  skippedLines: 0,
})

const usageOf = ([inputTokens, cachedInputTokens, outputTokens, costUsd]: Figures): Usage => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
  ...(costUsd === undefined ? {} : { costUsd }),
})

const ROWS: Readonly<Record<string, Row>> = {
  "claude-agents": {
    session: "1ebad40e-ac27-470b-ad37-39be27f16806",
    report: "echo: go",
    usage: [10, 0, 5, 0.00014000000000000001],
  },
  "claude-append-fork": {
    continued: true,
    session: "bef9de4e-4457-4a34-a029-1a755604b641",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-append-resume-none": {
    continued: true,
    session: "319f4a56-6ed3-4967-9a86-e9f2e19d02a4",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-append-resume": {
    continued: true,
    session: "319f4a56-6ed3-4967-9a86-e9f2e19d02a4",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-append": {
    session: "319f4a56-6ed3-4967-9a86-e9f2e19d02a4",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-autocompact": {
    session: "9d2b91c9-ee30-4cf8-8c2c-2344b899f2d3",
    report: "Done after compaction.",
    usage: [338000, 0, 328, 1.35856],
  },
  "claude-continue": {
    continued: true,
    session: "0bdf16d2-2b86-4490-97b3-c4505aee5517",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-error-auth": {
    failed: ["authentication", "The provider refused (401: authentication_failed)."],
    session: "a1673d2d-2026-4903-b162-c29262761b90",
  },
  "claude-error-context-overflow": {
    failed: [
      "context_overflow",
      "Prompt is too long · the request is ~210000 tokens (limit 200000) but this conversation is only ~2623 tokens — the rest is system prompt, tool definitions, and attachment content. A single-exchange conversation cannot be compacted; reduce attached files/tools or start with less context.",
    ],
    session: "a40b140f-2473-4594-842a-dd46d4c7d86e",
    usage: [0, 0, 0, 0],
  },
  "claude-error-nosession": {
    failed: [
      "session_not_found",
      "No conversation found with session ID: 99999999-2222-4333-8444-555555555555",
    ],
    session: "99999999-2222-4333-8444-555555555555",
    usage: [0, 0, 0, 0],
  },
  "claude-error-overloaded-retries1": {
    failed: [
      "overload",
      "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:37657).",
    ],
    session: "35ac8e25-1d6d-458f-b22b-31d30a61377a",
    usage: [0, 0, 0, 0],
  },
  "claude-error-ratelimit-retries1": {
    failed: ["rate_limit", "API Error: Request rejected (429) · Rate limit reached"],
    session: "d16345f1-35c3-427e-bfd7-a89f6514ca71",
    usage: [0, 0, 0, 0],
  },
  "claude-error-unreachable": {
    failed: [
      "connection",
      "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)",
    ],
    session: "9600bf92-11d7-4384-b937-fb84c5327d63",
    usage: [0, 0, 0, 0],
  },
  "claude-fork": {
    continued: true,
    session: "0bdf16d2-2b86-4490-97b3-c4505aee5517",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-json": {
    session: "1acb5eb1-31c6-44be-844e-29cded8173b2",
    report:
      "echo: <system-reminder>\nAs you answer the user's questions, you can use the following context:\n# gitStatus\nThis is the git status at the start of the conversation. Note that this status is a snapshot in tim",
    usage: [10, 0, 5, 0.00014000000000000001],
  },
  "claude-mcp": {
    session: "47d20fde-77c2-4e78-af76-59a444d42413",
    report: "done",
    usage: [20, 0, 10, 0.00028000000000000003],
  },
  "claude-partial": {
    session: "ada11885-000b-47b8-8e7c-1807e1b4041c",
    report: "Hello from the fake model.",
    usage: [1200, 300, 7, 0.00525],
  },
  "claude-resume": {
    continued: true,
    session: "8956b66f-f496-4f12-a527-686401f25be6",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-session-id-reuse": {
    failed: ["session_in_use", "Error: Session ID 11111111-2222-4333-8444-555555555555 is already in use."],
  },
  "claude-session-id": {
    session: "11111111-2222-4333-8444-555555555555",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0.00528],
  },
  "claude-skip-perms-root": {
    failed: [
      "invalid_launch",
      "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
    ],
  },
  "claude-skip-perms-sandbox": {
    session: "6f875271-bb60-4d5f-9359-6c861a3b1082",
    report: "There is a README.",
    usage: [3000, 0, 48, 0.012960000000000001],
  },
  "claude-text": {
    session: "8956b66f-f496-4f12-a527-686401f25be6",
    report: "Hello from the fake model.",
    usage: [1200, 300, 7, 0.00525],
  },
  "claude-tool": {
    session: "b48707d5-ce3b-435d-a547-78d697694856",
    report: "There is a README.",
    usage: [3000, 0, 48, 0.012960000000000001],
  },
  "codex-autocompact": {
    session: "01a1de0a-f2f1-7ac0-9aa9-4dab3613507a",
    report: "Done after compaction.",
    usage: [15500, 0, 78],
    sessionUsage: [15500, 0, 78],
  },
  "codex-error-auth": {
    failed: [
      "authentication",
      "unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:46671/v1/responses",
    ],
    session: "01a1de09-10b2-7192-a677-5f2b492cdd9c",
  },
  "codex-error-context-overflow": {
    failed: [
      "context_overflow",
      "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.",
    ],
    session: "01a1de09-2bff-7463-974c-68f9112a75cb",
  },
  "codex-error-nosession": {
    failed: [
      "session_not_found",
      "Error: thread/resume: thread/resume failed: no rollout found for thread id 01a1de08-0000-7d51-9fa6-7c7289c601be (code -32600)",
    ],
  },
  "codex-fork": {
    continued: true,
    session: "01a1de08-fa85-7aa3-b6a6-e42f5091c03f",
    report: "Resumed answer.",
    sessionUsage: [5100, 300, 19],
  },
  "codex-mcp-approve": {
    session: "01a1de12-a393-7200-b318-53aceb97de32",
    report: "done",
    usage: [20, 0, 10],
    sessionUsage: [20, 0, 10],
  },
  "codex-mcp-bypass": {
    session: "01a1de12-a087-7e90-b1f0-9445f7c65e1e",
    report: "done",
    usage: [20, 0, 10],
    sessionUsage: [20, 0, 10],
  },
  "codex-mcp": {
    session: "01a1de12-9db6-72a1-b25b-abed16b194dd",
    report: "done",
    usage: [20, 0, 10],
    sessionUsage: [20, 0, 10],
  },
  "codex-nogit-skip": {
    session: "01a1de0b-40a0-7421-ab3d-7597ebd483ab",
    report: "Resumed answer.",
    usage: [1300, 0, 4],
    sessionUsage: [1300, 0, 4],
  },
  "codex-nogit": {
    failed: ["invalid_launch", "Not inside a trusted directory and --skip-git-repo-check was not specified."],
  },
  "codex-resume-last": {
    continued: true,
    session: "01a1de08-109c-7d51-9fa6-7c7289c601be",
    report: "Resumed answer.",
    sessionUsage: [3800, 300, 15],
  },
  "codex-resume-noprovider": {
    failed: [
      "invalid_launch",
      'Error: thread/resume: thread/resume failed: This chat uses model provider “fake”, which is no longer configured. Restore this provider’s configuration to continue. (code -32600), data: {"type":"modelProviderNotConfigured","modelProvider":"fake"}',
    ],
  },
  "codex-resume-sandbox-after": { failed: ["invalid_launch", "error: unexpected argument '-s' found"] },
  "codex-resume": {
    continued: true,
    session: "01a1de08-109c-7d51-9fa6-7c7289c601be",
    report: "Resumed answer.",
    sessionUsage: [2500, 300, 11],
  },
  "codex-text": {
    session: "01a1de08-109c-7d51-9fa6-7c7289c601be",
    report: "Hello from the fake model.",
    usage: [1200, 300, 7],
    sessionUsage: [1200, 300, 7],
  },
  "codex-tool-workspace": {
    session: "01a1de08-a1c0-76b1-9db4-c1ee42dddb71",
    report: "There is a README.",
    usage: [3000, 0, 48],
    sessionUsage: [3000, 0, 48],
  },
  "codex-tool": {
    session: "01a1de08-b817-7b40-830e-76f48b21c11c",
    report: "There is a README.",
    usage: [3000, 0, 48],
    sessionUsage: [3000, 0, 48],
  },
  "opencode-agent-missing": {
    session: "ses_e21fed0d6ffeFi99jNs93e81Ky",
    report: "echo: review",
    usage: [10, 0, 5, 0],
  },
  "opencode-agent": {
    session: "ses_e21fee630ffeL2J9rPHzuodzNk",
    report: "echo: review",
    usage: [10, 0, 5, 0.000105],
  },
  "opencode-compact-autocontinue-followup": {
    continued: true,
    session: "ses_e21f0dcdeffe9Y78Nc6vsj28G3",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0],
  },
  "opencode-compact-autocontinue": {
    session: "ses_e21f0dcdeffe9Y78Nc6vsj28G3",
    report: "Answer after compaction.",
    usage: [15400, 0, 98, 0],
  },
  "opencode-compact-followup": {
    continued: true,
    session: "ses_e21f18851ffeS40lZe8PNBxM90",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0],
  },
  "opencode-compact-noreply": {
    session: "ses_e21f18851ffeS40lZe8PNBxM90",
    report: "Second answer after compaction.",
    usage: [16000, 0, 106, 0],
  },
  "opencode-compact-prompt": {
    session: "ses_e21f17383ffeMx2WsjTyxtvr8K",
    report: "FAKE-OC-SUMMARY of the conversation.",
    usage: [14900, 0, 90, 0],
  },
  "opencode-compact-run": {
    session: "ses_e21f20535ffeMNSMAB3jan7fkZ",
    report: "Answer after compaction.",
    usage: [15400, 0, 98, 0],
  },
  "opencode-compact-transform": {
    session: "ses_e21f064e7ffeiESp4F3Nb20eci",
    report: "Answer after compaction.",
    usage: [15400, 0, 98, 0],
  },
  "opencode-compaction-loop": {
    failed: ["runaway", "OpenCode compacted 4 times in a row without doing anything."],
    session: "ses_e21f313a0ffeNL9RTeXR2nTgvG",
    report: "FAKE-OC-SUMMARY of the conversation.",
    usage: [77000, 0, 550, 0],
  },
  "opencode-continue": {
    continued: true,
    session: "ses_e2201fc98ffetLAA7az5RB2O5s",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0],
  },
  "opencode-dir": { session: "ses_e21fd7133ffeuUL2pUj6E4qWxI", report: "echo: hi", usage: [10, 0, 5, 0] },
  "opencode-error-auth": {
    failed: ["authentication", "invalid x-api-key"],
    session: "ses_e22014308ffeaAReI4T50UR4Sc",
  },
  "opencode-error-context-overflow": {
    failed: [
      "context_overflow",
      "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.",
    ],
    session: "ses_e22011275ffezM4mBTWDUlYbfi",
  },
  "opencode-error-cut": {
    session: "ses_e2201fc98ffetLAA7az5RB2O5s",
    report: "Recovered after cut.",
    usage: [10, 0, 5, 0],
  },
  "opencode-error-nomodel": {
    failed: [
      "unclassified",
      "Unexpected server error. Check server logs for details. Is the model known to OpenCode?",
    ],
    session: "ses_e21ff51c2ffe3U3LhQP5lkA1cj",
  },
  "opencode-error-noprovider": {
    failed: [
      "unclassified",
      "Unexpected server error. Check server logs for details. Is the model known to OpenCode?",
    ],
    session: "ses_e21ff4672ffeKueCaJFpTLTZzN",
  },
  "opencode-error-nosession": { failed: ["session_not_found", "Error: Session not found"] },
  "opencode-fork": {
    continued: true,
    session: "ses_e22017d23ffejVnIW9YrRdfOJi",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0],
  },
  "opencode-mcp": { session: "ses_e21edc3d0ffezLLnQS2bG7d6iG", report: "done", usage: [20, 0, 10, 0] },
  "opencode-model-cost": {
    session: "ses_e21feb4ebffeMNyJDRM5r1nJQS",
    report:
      "echo: Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.",
    usage: [1000020, 100000, 100010, 4.530209999999999],
  },
  "opencode-ratelimit-recover": {
    session: "ses_e2201fc98ffetLAA7az5RB2O5s",
    report: "Answer after rate limit.",
    usage: [10, 0, 5, 0],
  },
  "opencode-raw": {
    session: "ses_e2203200dffeVk43hEwCrJ534R",
    report: 'echo: "say hello"',
    usage: [10, 0, 5, 0],
  },
  "opencode-resume": {
    continued: true,
    session: "ses_e2201fc98ffetLAA7az5RB2O5s",
    report: "Resumed answer.",
    usage: [1300, 0, 4, 0],
  },
  "opencode-text": {
    session: "ses_e2201fc98ffetLAA7az5RB2O5s",
    report: "Hello from the fake model.",
    usage: [1200, 300, 7, 0],
  },
  "opencode-tool": {
    session: "ses_e2201c3f2ffekPZKnFAESeZai9",
    report: "There is a README.",
    usage: [3000, 0, 48, 0],
  },
}
