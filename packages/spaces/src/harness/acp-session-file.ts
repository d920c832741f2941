/** Names the file into which an agent's terminal conversation writes its session, as soon as the agent reports it. */
export const SESSION_FILE = "MERIDIAN_ACP_SESSION_FILE"
