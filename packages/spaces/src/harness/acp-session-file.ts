/** Names the file where a conversation with an agent on a terminal writes down its session, as soon as the agent told it. */
export const SESSION_FILE = "MERIDIAN_ACP_SESSION_FILE"
