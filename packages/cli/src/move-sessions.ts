/** A project was moved: its engine sessions now work in the new place. */
import { existsSync } from "node:fs"

import { openEngine } from "@meridian/engine"
import { pathMoved, type World } from "@meridian/spaces"

import { engineFile } from "./engine-check.ts"

const PAGE = 200

export const moveSessions = async (
  { from, to }: { readonly from: string; readonly to: string },
  world: Pick<World, "env" | "cwd">,
): Promise<number> => {
  const database = engineFile(world)
  if (!existsSync(database)) return 0
  const engine = await openEngine({ database, models: [], recover: false, worker: false })
  try {
    let moved = 0
    for (let cursor: string | undefined; ;) {
      const page = await engine.sessions.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
      for (const { id, location } of page.items) {
        const directory = pathMoved(location.directory, { from, to })
        if (directory === location.directory) continue
        await engine.sessions.move({ sessionID: id, location: { directory } })
        moved += 1
      }
      cursor = page.next
      if (cursor === undefined) return moved
    }
  } finally {
    await engine.close()
  }
}
