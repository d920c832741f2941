/** Every bound of talking to an agent over the Agent Client Protocol. */
export const CLIENT_LIMITS = {
  /** Bytes of one message from an agent. */
  messageBytes: 32 * 1024 * 1024,
  /** For the agent's first answer, and for opening a session. */
  handshakeMs: 60_000,
  /** Between asking an agent to end and killing it. */
  graceMs: 2_000,
  textCharacters: 1_000_000,
  nameCharacters: 200,
  openCalls: 1_000,
  files: 200,
  /** Characters of an agent's stderr that are kept to explain its end. */
  stderrCharacters: 2_000,
} as const
