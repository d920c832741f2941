/** Bounds every loop, queue, buffer and page of the engine. Embedders may change the first group. */
import { assert } from "./assert.ts"

export interface EngineLimits {
  /** Inputs that may wait in one session's inbox. One more is refused. */
  readonly pendingInputs: number
  /** Steers that become visible at one safe boundary. The rest waits for the next. */
  readonly steerBatch: number
  /** Provider turns from a promotion to the end of the work it asked for. */
  readonly turnsPerActivity: number
  /** How long a silent owner keeps a session. */
  readonly leaseMs: number
  /** How long to wait out failures that pass on their own. Below one second nothing waits longer than a turn. */
  readonly patienceMs: number
}

export const DEFAULT_LIMITS: EngineLimits = {
  pendingInputs: 256,
  steerBatch: 32,
  turnsPerActivity: 25,
  leaseMs: 8_000,
  patienceMs: 24 * 60 * 60_000,
}

export const LIMITS = {
  promptBytes: 16 * 1024 * 1024,
  promptFiles: 32,
  /** How deep work may be delegated from agent to agent. */
  taskDepth: 3,
  /** Characters of the report of a background task. */
  taskReportCharacters: 30_000,
  titleCharacters: 300,
  /** For a title from a model: how much of the prompt it reads, how much it may write, and how long that may take. */
  titlePromptCharacters: 4_000,
  titleTokens: 1_000,
  titleMs: 30_000,
  syntheticCharacters: 200_000,
  messagesPerPage: 200,
  messagesPerPageByDefault: 50,
  sessionsPerPage: 200,
  eventsPerPage: 500,
  recallHits: 20,
  toolCallsPerTurn: 64,
  toolCallsAtOnce: 8,
  /** Identical calls in a row. From the first number on the model is told; from the second on they are not run. */
  repetitionNoticed: 3,
  repetitionRefused: 6,
  /** Compactions in a row without progress, before a person is asked. */
  compactionsInARow: 5,
  /** How long an aborted tool may take to stop before it is recorded as interrupted anyway. */
  toolAbortGraceMs: 5_000,
  retryDelayMs: 60_000,
  /** A stated reset at least this far away parks the session. Beyond the second number a person decides. */
  parkLeastMs: 1_000,
  parkMostMs: 7 * 24 * 60 * 60_000,
  /** Waits without a stated reset: the first one, then doubled up to the longest. */
  unknownLimitMs: { least: 60_000, most: 30 * 60_000 },
  unknownOverloadMs: { least: 8_000, most: 60_000 },
  /** How often lost work is resumed without progress, before a person is asked. */
  recoveryAttempts: 3,
  /** How often timers are checked. Clocks jump, and other processes park sessions too. */
  timerLeastMs: 100,
  timerPollMs: 5_000,
  /** How many live fragments a slow reader may lag behind before the oldest are dropped. */
  liveBacklog: 1_024,
  foreignPollMs: 100,
  /** Hints about changes may be lost. After this time a waiter looks anyway. */
  lookAgainMs: 2_000,
  leasePollMs: 25,
  /** How many idle sessions stay folded in memory, and how much they may weigh together. */
  idleHistories: 256,
  idleHistoryBytes: 64 * 1024 * 1024,
  locationIdleMs: 10 * 60_000,
  questionCharacters: 8_000,
  questionChoices: 50,
  answerCharacters: 20_000,
  recordedErrorCharacters: 4_000,
  /** The provider options of an agent, a variant or a prompt. */
  optionLevels: 16,
  optionCharacters: 16_384,
  /** A prompt's own instructions, and the names and patterns by which it changes the tools. */
  systemCharacters: 200_000,
  toolPatternCharacters: 200,
  /** The schema of a requested answer. */
  schemaLevels: 32,
  schemaCharacters: 65_536,
  schemaVisits: 10_000,
  /** How many answers may fail to fit before the work is given up: one may be corrected. */
  refusedAnswers: 2,
  /** Patterns for the tools of one agent, and variants of one model. */
  agentTools: 200,
  modelVariants: 32,
  /** Extensions per engine; how long a hook may take, and how often in a row it may fail before it is left out. */
  extensions: 64,
  hookMs: 2_000,
  hookFailures: 5,
  hookMessageCharacters: 500,
  /** What a hook may turn a request or the input of a call into. */
  hookMessages: 100_000,
  hookCharacters: 2_000_000,
  hookHeaders: 32,
  receiptFacts: 100,
  summaryMs: 120_000,
  /** Bounds of an import: one prompt, one text of a model, one result, and all events. */
  importedPromptCharacters: 8 * 1024 * 1024,
  importedTextCharacters: 1024 * 1024,
  importedResultCharacters: 256 * 1024,
  importedEvents: 4_000_000,
  /** Nesting of a call's input. SQLite reads JSON with 1,000 levels, and an event adds a few around the input. */
  importedDepth: 500,
  /** How much is held in memory before it is written. */
  importedBatchCharacters: 4 * 1024 * 1024,
  contextRetryMs: 1_000,
  contextRetryMostMs: 30_000,
  /** Trees of files that a folded session knows, and files that one answer or event names. */
  keptRecords: 1_000,
  namedFiles: 1_000,
} as const

assert(LIMITS.toolCallsAtOnce <= LIMITS.toolCallsPerTurn, "a turn can use every slot")
assert(LIMITS.repetitionNoticed < LIMITS.repetitionRefused, "a model is warned before it is refused")
assert(LIMITS.importedPromptCharacters <= LIMITS.promptBytes, "an imported prompt could have been sent")
assert(LIMITS.timerLeastMs < LIMITS.timerPollMs, "timers are looked at sooner when one is near")
assert(LIMITS.timerPollMs <= 60_000, "a session goes on within a minute of its time")
assert(LIMITS.foreignPollMs <= 250, "commits of other processes are seen within 250 ms")
assert(DEFAULT_LIMITS.steerBatch <= DEFAULT_LIMITS.pendingInputs, "a batch fits the inbox")
assert(DEFAULT_LIMITS.leaseMs + 2_000 <= 10_000, "a dead owner's session is free within ten seconds")
