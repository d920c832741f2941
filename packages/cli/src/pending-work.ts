/** The pending work in an engine database, without touching it: it is opened only for reading. */
import { openEngine } from "@meridian/engine"

/** Enough to show that there is something. A hostile file may hold any number. */
const MOST_SESSIONS = 200

export const pendingWork = async (database: string): Promise<string | undefined> => {
  const engine = await openEngine({ database, models: [], recover: false })
  try {
    const { items } = await engine.sessions.list({ limit: MOST_SESSIONS, order: "desc" })
    const questions = (await engine.permissions.list()).length
    let busy = 0
    for (const { id, status } of items)
      if (status !== "idle" || (await engine.sessions.inputs(id)).length > 0) busy += 1
    if (busy === 0 && questions === 0) return undefined
    return `work that waits in ${busy} session${busy === 1 ? "" : "s"}, ${questions} open question${questions === 1 ? "" : "s"}`
  } finally {
    await engine.close()
  }
}
