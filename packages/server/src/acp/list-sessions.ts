/** The sessions of a database as a client lists them, last changed first. */
import type { ListSessionsResponse, SessionInfo as ListedSession } from "@agentclientprotocol/sdk"
import type { Engine, SessionInfo } from "@meridian/engine"

import { ACP_LIMITS } from "./limits.ts"
import { shownTitle } from "./tool-face.ts"

export const listSessions = async (
  engine: Engine,
  asked: { readonly directory: string | undefined; readonly cursor: string | undefined },
): Promise<ListSessionsResponse> => {
  let { cursor } = asked
  for (let looked = 1; ; looked += 1) {
    const page = await engine.sessions.list({
      limit: ACP_LIMITS.listedSessions,
      order: "desc",
      ...(cursor === undefined ? {} : { cursor }),
    })
    cursor = page.next
    const found = page.items.filter(
      ({ location, parent }) =>
        parent === undefined && (asked.directory === undefined || location.directory === asked.directory),
    )
    if (found.length === 0 && cursor !== undefined && looked < ACP_LIMITS.listedPages) continue
    return {
      sessions: found.map(describe),
      ...(cursor === undefined ? {} : { nextCursor: cursor }),
    }
  }
}

const describe = ({ id, location, time, title }: SessionInfo): ListedSession => ({
  sessionId: id,
  cwd: location.directory,
  updatedAt: new Date(time.updated).toISOString(),
  ...(title === undefined ? {} : { title: shownTitle(title) }),
})
