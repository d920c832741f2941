/** The plugin's calls to the host. On some hosts a call is missing, slow or broken; the answer is then `undefined`. */
import { fieldOf, listField, textField } from "./field.ts"
import { TIME_LIMITS, withinTime, type World } from "./world.ts"

export interface Host {
  /** The last messages of a session, oldest first. */
  readonly messages: (session: string) => Promise<readonly unknown[] | undefined>
  readonly toolIds: () => Promise<readonly string[]>
  /** The system prompts of the agents that write titles and summaries; undefined when the host did not answer. */
  readonly helperPrompts: () => Promise<readonly string[] | undefined>
  /** Sends a message that gets no answer. True when the host accepted it. */
  readonly sendSilently: (session: string, body: object) => Promise<boolean>
  /** True, false, or unknown. */
  readonly isBusy: (session: string) => Promise<boolean | undefined>
}

/** How many messages of a session are read at first. */
export const HISTORY_LIMIT = 2_000
const HELPERS: ReadonlySet<string> = new Set(["title", "compaction", "summary"])

export const openHost = (client: unknown, world: World): Host => {
  const call = async (path: readonly [string, string], argument: object): Promise<unknown> => {
    const owner = fieldOf(client, path[0])
    const method = fieldOf(owner, path[1])
    if (typeof method !== "function") return undefined
    try {
      return await Reflect.apply(method, owner, [argument])
    } catch {
      return undefined
    }
  }
  const quick = async (path: readonly [string, string], argument: object): Promise<unknown> => {
    const answer = await withinTime(world, TIME_LIMITS.clientMs, call(path, argument))
    return answer.kind === "done" ? dataOf(answer.value) : undefined
  }
  return {
    messages: async (session) => {
      const answer = await call(["session", "messages"], {
        path: { id: session },
        query: { limit: HISTORY_LIMIT },
      })
      const data = dataOf(answer)
      return Array.isArray(data) ? data.slice(-HISTORY_LIMIT) : undefined
    },
    toolIds: async () => {
      const [ids, servers] = await Promise.all([quick(["tool", "ids"], {}), quick(["mcp", "status"], {})])
      const own = Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : []
      return [...own, ...connectedServers(servers)]
    },
    helperPrompts: async () => {
      const agents = dataOf(await call(["app", "agents"], {}))
      if (!Array.isArray(agents)) return undefined
      return agents
        .filter((agent) => HELPERS.has(textField(agent, "name") ?? ""))
        .flatMap((agent) => textField(agent, "prompt") ?? [])
    },
    sendSilently: async (session, body) => {
      const answer = await call(["session", "prompt"], { path: { id: session }, body })
      return answer !== undefined && fieldOf(answer, "error") === undefined
    },
    isBusy: async (session) => {
      const states = await quick(["session", "status"], {})
      if (typeof states !== "object" || states === null) return undefined
      return textField(fieldOf(states, session), "type") === "busy"
    },
  }
}

/** The SDK answers `{ data }`; some hosts and tests answer with the data itself. */
const dataOf = (answer: unknown): unknown => fieldOf(answer, "data") ?? answer

/** `mcp_<name>` for each connected server, as rules name them. */
const connectedServers = (servers: unknown): readonly string[] => {
  if (typeof servers !== "object" || servers === null) return []
  return Object.entries(servers)
    .slice(0, 100)
    .filter(([, state]) => textField(state, "status") === "connected")
    .map(([name]) => `mcp_${name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`)
}

/** The session that a list of messages belongs to. */
export const sessionOfMessages = (messages: readonly unknown[]): string | undefined => {
  for (const message of messages.slice(0, 20)) {
    const session =
      textField(fieldOf(message, "info"), "sessionID") ??
      textField(listField(message, "parts")[0], "sessionID")
    if (session !== undefined) return session
  }
  return undefined
}
