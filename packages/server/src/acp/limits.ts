/** Every bound of the ACP face. */
export const ACP_LIMITS = {
  /** Sessions that one client has open at once. The one idle for longest is closed to make room. */
  openSessions: 32,
  /** Bytes of one message from a client. An image of 16 MB as base64 fits. */
  messageBytes: 32 * 1024 * 1024,
  /** Sessions in one answer to session/list. */
  listedSessions: 50,
  /** Pages to search for one with a session of the requested directory. */
  listedPages: 20,
  /** Characters in the title of a tool call or a session. */
  titleCharacters: 200,
  /** Characters of one text in a tool call: its result, or one side of a diff. */
  contentCharacters: 1_000_000,
  /** Diffs of one patch. */
  differences: 200,
  models: 1_000,
} as const
