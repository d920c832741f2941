/** Every bound of the ACP face. */
export const ACP_LIMITS = {
  /** Sessions one client has open at once; the one that rested longest gives way. */
  openSessions: 32,
  /** Bytes of one message of a client: an image of 16 MB as base64 fits. */
  messageBytes: 32 * 1024 * 1024,
  /** Sessions in one answer to session/list. */
  listedSessions: 50,
  /** Pages looked through for one that has a session of the asked directory. */
  listedPages: 20,
  /** Characters of a title, of a tool call or a session. */
  titleCharacters: 200,
  /** Characters of one text in a tool call: its result, or one side of a difference. */
  contentCharacters: 1_000_000,
  /** Differences of one patch. */
  differences: 200,
  models: 1_000,
} as const
