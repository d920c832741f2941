/** Sessions of our engine in the project's state folder, read through the engine itself; nothing is run. */
import { existsSync } from "node:fs"
import { join } from "node:path"

import type { Engine } from "@meridian/engine"
import type { SessionMessage } from "@meridian/protocol"

import { lookWithEngine } from "../../command/look-with-engine.ts"
import { isInside, type Conversation } from "./conversations.ts"
import type { Entry } from "./entry.ts"

const LIMITS = { sessions: 100, messages: 5_000, page: 200 } as const

export const findEngineSessions = (root: string, stateRoot: string): Promise<readonly Conversation[]> => {
  const path = join(stateRoot, "engine.sqlite")
  if (!existsSync(path)) return Promise.resolve([])
  return withEngine(path, [], async (engine) => {
    const { items } = await engine.sessions.list({ limit: LIMITS.sessions, order: "desc" })
    return items
      .filter(({ location }) => isInside(root, location.directory))
      .map(({ id, time }) => ({ harness: "direct", session: id, path, modifiedMs: time.updated }) as const)
  })
}

export const readEngineSession = ({ path, session }: Conversation): Promise<readonly Entry[]> =>
  withEngine(path, [], async (engine) => {
    const entries: Entry[] = []
    let cursor: string | undefined
    do {
      const page = await engine.sessions.messages({
        sessionID: session,
        limit: LIMITS.page,
        order: "asc",
        ...(cursor === undefined ? {} : { cursor }),
      })
      entries.push(...page.items.flatMap(entriesOfMessage))
      cursor = page.next
    } while (cursor !== undefined && entries.length < LIMITS.messages)
    return entries
  })

const entriesOfMessage = (message: SessionMessage): readonly Entry[] => {
  const at = { number: message.seq, time: message.time }
  switch (message.type) {
    case "user":
      return [{ ...at, role: "user", text: message.text }]
    case "compaction":
      return [{ ...at, role: "summary", text: message.summary }]
    case "assistant":
      return message.content.flatMap((part): readonly Entry[] => {
        if (part.type === "text") return [{ ...at, role: "assistant", text: part.text }]
        if (part.type !== "tool") return []
        const { state } = part
        const output =
          state.status === "completed"
            ? state.content.map((content) => (content.type === "text" ? content.text : "")).join("\n")
            : ""
        return [{ ...at, role: "tool", text: `${part.tool} ${JSON.stringify(part.input ?? {})}\n${output}` }]
      })
    case "system":
    case "agent-switched":
    case "model-switched":
      return []
  }
}

const withEngine = async <Value>(
  database: string,
  nothing: Value,
  look: (engine: Engine) => Promise<Value>,
): Promise<Value> => {
  try {
    return await lookWithEngine(database, { cwd: "/", env: {} }, look)
  } catch {
    // Locked by an older version, damaged, or not ours: there is nothing to recall from it.
    return nothing
  }
}
