/** The requests of a direct run's sessions since a moment, from the engine's log: for a run whose worker was lost. */
import type { Engine } from "@meridian/engine"
import type { KeptRequest, KeptRequests, KeptSearch } from "@meridian/spaces"

import { lookWithEngine } from "../command/look-with-engine.ts"

export const keptByEngine =
  ({ id, environment, sinceMs }: KeptSearch, cwd: string): KeptRequests =>
  async () => {
    try {
      return await lookWithEngine(undefined, { cwd, env: environment }, async (engine) => {
        const requests: KeptRequest[] = []
        await collect(engine, id, { sinceMs, requests })
        return requests
      })
    } catch {
      // Without a database or session, nothing is known.
      return []
    }
  }

const collect = async (
  engine: Engine,
  sessionID: string,
  into: { readonly sinceMs: number; readonly requests: KeptRequest[] },
): Promise<void> => {
  let model = ""
  for await (const event of engine.sessions.events({ sessionID, after: 0 })) {
    if (event.type === "session.next.step.started.1") model = event.data.model
    if (event.type !== "session.next.step.ended.2" && event.type !== "session.next.compaction.ended.2")
      continue
    if (event.time < into.sinceMs) continue
    const { usage, cost } = event.data
    into.requests.push({
      atMs: event.time,
      model,
      inputTokens: usage.input,
      cacheWriteTokens: usage.cacheWrite,
      cachedInputTokens: usage.cacheRead,
      outputTokens: usage.output + usage.reasoning,
      // A cost of 0 means that the price is unknown.
      ...(cost === 0 ? {} : { costUsd: cost }),
    })
  }
  for (const child of await engine.sessions.children(sessionID)) await collect(engine, child.id, into)
}
