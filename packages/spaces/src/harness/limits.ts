/** Every bound of the adapters. Text that was cut says so. */
export const LIMITS = {
  /** A longer line of stdout is dropped; only its beginning is searched for the session id. */
  lineBytes: 16 * 1024 * 1024,
  cutLineBytes: 16 * 1024,
  /** One string in an event of `events.jsonl`. */
  eventText: 64 * 1024,
  rawText: 4 * 1024,
  messageText: 600,
  /** Tool calls announced but not yet answered. */
  openCalls: 1000,
  /** Linux refuses an argument or variable over 128 KiB. The remaining room is for its name. */
  argumentBytes: 96 * 1024,
  /** Compactions in a row without a tool call between them: the harness is going in circles. */
  idleCompactions: 4,
  /** With a wrong key, Claude retries ten times, for minutes. */
  authenticationRetries: 3,
  /** The first line of a codex rollout holds its whole system prompt. */
  rolloutHeadBytes: 512 * 1024,
  rolloutTailBytes: 1024 * 1024,
  sessionFiles: 5000,
  /** How much is read at once from a file that a harness appends to. */
  addedChunkBytes: 256 * 1024,
  /** How many sub-agent transcripts of one session are read. */
  subagentFiles: 500,
} as const
