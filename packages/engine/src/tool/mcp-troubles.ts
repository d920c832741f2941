/**
 * Which sessions were told about which broken servers: each session once per outage, and only a few times about a server
 * that keeps coming and going.
 */
import type { Trouble } from "../port/location.ts"
import type { McpSource } from "./mcp.ts"

const MOST_SESSIONS = 1_000
const MOST_OUTAGES = 5

interface Told {
  outages: number
  isOut: boolean
}

export const openMcpTroubles = ({ problems }: Pick<McpSource, "problems">) => {
  const sessions = new Map<string, Map<string, Told>>()
  return (sessionID: string): readonly Trouble[] => {
    const now = problems()
    const told = sessions.get(sessionID)
    if (now.length === 0 && told === undefined) return NONE
    const servers = told ?? new Map<string, Told>()
    if (told === undefined) {
      if (sessions.size >= MOST_SESSIONS) sessions.clear()
      sessions.set(sessionID, servers)
    }
    for (const [server, state] of servers)
      if (!now.some((problem) => problem.server === server)) state.isOut = false
    return now.flatMap(({ server, message }): readonly Trouble[] => {
      const state = servers.get(server) ?? { outages: 0, isOut: false }
      servers.set(server, state)
      if (state.isOut || state.outages >= MOST_OUTAGES) return []
      state.isOut = true
      state.outages += 1
      return [{ kind: "mcp", name: server, problem: message }]
    })
  }
}

const NONE: readonly Trouble[] = []
