/**
 * Spaces, chats and runs over HTTP: the answers of `space list`, `space show`, `run list` and `run show` in camelCase,
 * without the fields that name directories of the server. A test compares them with the operations.
 */
import {
  BOOLEAN,
  INTEGER,
  listOf,
  named,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  type TypeOf,
} from "@meridian/protocol"

const SPACE_STATUS = oneOf("active", "closed", "damaged")
export const RUN_STATUS = oneOf("queued", "running", "waiting", "paused", "succeeded", "failed", "cancelled")

/** What is known about a run's claim to be done. `unverified`: not checked. */
const VERDICT = oneOf("verified", "unverified", "refuted")

const WAITING_FOR = oneOf("limit", "budget", "question", "permission", "harness")

export const SPACE_ROW = named(
  "SpaceRow",
  objectOf(
    { spaceId: STRING, status: SPACE_STATUS },
    { name: STRING, startedAt: STRING, finishedAt: STRING, lastActiveAt: STRING },
  ),
)

export const CHAT = named(
  "Chat",
  objectOf(
    { chatId: STRING, alive: BOOLEAN, harness: STRING, model: STRING, startedAt: STRING },
    { harnessSessionId: STRING, agent: STRING, runId: STRING, stoppedAt: STRING, resumeCommand: STRING },
  ),
)

/** One compaction of a chat in Claude Code, Codex or OpenCode: the receipt, from transcript and injections. */
export const HOST_COMPACTION = named(
  "HostCompaction",
  objectOf(
    {
      number: INTEGER,
      summary: STRING,
      /** Facts that the summary still contains, each as `kind: text`. */
      kept: listOf(STRING),
      putBack: listOf(STRING),
      lost: listOf(STRING),
      /** Requests that the summary attributes to the user, who never made them. */
      invented: listOf(STRING),
      contradicted: BOOLEAN,
    },
    { at: STRING, injectedTokens: INTEGER },
  ),
)

export const SPACE = named(
  "Space",
  objectOf(
    {
      spaceId: STRING,
      status: SPACE_STATUS,
      startedAt: STRING,
      chats: listOf(CHAT),
      runIds: listOf(STRING),
      runs: listOf(objectOf({ runId: STRING, status: RUN_STATUS }, { task: STRING })),
    },
    { name: STRING, finishedAt: STRING },
  ),
)

export const RUN_ROW = named(
  "RunRow",
  objectOf(
    { runId: STRING, status: RUN_STATUS, model: STRING, spaceId: STRING },
    {
      chatId: STRING,
      parentRunId: STRING,
      harness: STRING,
      agent: STRING,
      task: STRING,
      startedAt: STRING,
      durationSecs: NUMBER,
      costUsd: NUMBER,
      verdict: VERDICT,
      waitingFor: WAITING_FOR,
      waitingUntil: STRING,
    },
  ),
)

export const RUN = named(
  "Run",
  objectOf(
    { runId: STRING, spaceId: STRING, status: RUN_STATUS, model: STRING, harness: STRING },
    {
      chatId: STRING,
      parentRunId: STRING,
      continuedFrom: STRING,
      firing: STRING,
      agent: STRING,
      skills: listOf(STRING),
      background: BOOLEAN,
      harnessSessionId: STRING,
      task: STRING,
      activity: objectOf({}, { line: STRING, tool: STRING, at: STRING }),
      words: objectOf({
        told: oneOf("step", "tool", "message"),
        waiting: listOf(objectOf({ at: STRING, text: STRING, handedOver: BOOLEAN })),
      }),
      waitingFor: WAITING_FOR,
      waitingUntil: STRING,
      elapsedSecs: NUMBER,
      startedAt: STRING,
      finishedAt: STRING,
      durationSecs: NUMBER,
      exitCode: INTEGER,
      attempts: listOf(
        objectOf(
          { harness: STRING, began: STRING },
          {
            session: STRING,
            ended: STRING,
            why: STRING,
            message: STRING,
            costUsd: NUMBER,
            unpinned: STRING,
          },
        ),
      ),
      failureReason: STRING,
      message: STRING,
      inputTokens: INTEGER,
      cachedInputTokens: INTEGER,
      outputTokens: INTEGER,
      costUsd: NUMBER,
      reportSummary: STRING,
      report: STRING,
      worktree: objectOf(
        { branch: STRING, base: STRING, state: oneOf("open", "applied", "staged", "discarded") },
        { commit: STRING, kept: STRING },
      ),
      sandbox: objectOf({ by: oneOf("bubblewrap", "none") }, { network: oneOf("on", "off"), why: STRING }),
      besides: listOf(STRING),
      contestId: STRING,
      verdict: VERDICT,
      changedCheckFiles: listOf(STRING),
      checks: listOf(
        objectOf(
          {
            command: STRING,
            place: oneOf("run", "apply"),
            attempt: INTEGER,
            ended: oneOf("ended", "timeout", "stopped", "not-started"),
            green: BOOLEAN,
            durationSecs: NUMBER,
            at: STRING,
            output: STRING,
          },
          { exitCode: INTEGER },
        ),
      ),
    },
  ),
)

export type RunStatus = TypeOf<typeof RUN_STATUS>
export type SpaceRow = TypeOf<typeof SPACE_ROW>
export type SpaceDocument = TypeOf<typeof SPACE>
export type ChatDocument = TypeOf<typeof CHAT>
export type RunRow = TypeOf<typeof RUN_ROW>
export type RunDocument = TypeOf<typeof RUN>
export type HostCompactionDocument = TypeOf<typeof HOST_COMPACTION>
