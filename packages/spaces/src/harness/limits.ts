/** Every bound of the adapters in one place. What is cut says so. */
export const LIMITS = {
  /** A longer line of stdout is not kept; its beginning is looked at for the session id. */
  lineBytes: 16 * 1024 * 1024,
  cutLineBytes: 16 * 1024,
  /** One string in an event of `events.jsonl`. */
  eventText: 64 * 1024,
  rawText: 4 * 1024,
  messageText: 600,
  /** Tool calls that were announced and not answered yet. */
  openCalls: 1000,
  /** Linux refuses one argument or variable of 128 KiB; the rest of the room is for its name. */
  argumentBytes: 96 * 1024,
  /** Compactions in a row without a tool call between them: the harness is going in circles. */
  idleCompactions: 4,
  /** Claude asks ten times, for minutes, with a key that is wrong. */
  authenticationRetries: 3,
  /** The first line of a codex rollout holds its whole system prompt. */
  rolloutHeadBytes: 512 * 1024,
  rolloutTailBytes: 1024 * 1024,
  sessionFiles: 5000,
  /** Read at once of a file that a harness appends to. */
  addedChunkBytes: 256 * 1024,
  /** Transcripts of sub-agents of one session that are looked into. */
  subagentFiles: 500,
} as const
