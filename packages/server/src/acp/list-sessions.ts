/** The sessions of a database as a client lists them, the one that changed last first. */
import type { ListSessionsResponse, SessionInfo as ListedSession } from "@agentclientprotocol/sdk"
import type { Engine, SessionInfo } from "@meridian/engine"
import { oneLine } from "@meridian/protocol"

import { ACP_LIMITS } from "./limits.ts"

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
      sessions: await Promise.all(found.map((session) => describe(engine, session))),
      ...(cursor === undefined ? {} : { nextCursor: cursor }),
    }
  }
}

const describe = async (engine: Engine, session: SessionInfo): Promise<ListedSession> => {
  const title = session.title ?? (await firstWords(engine, session.id))
  return {
    sessionId: session.id,
    cwd: session.location.directory,
    updatedAt: new Date(session.time.updated).toISOString(),
    ...(title === undefined ? {} : { title }),
  }
}

/** Nobody named it: what it was asked first says what it is about. */
const firstWords = async (engine: Engine, sessionID: string): Promise<string | undefined> => {
  const { items } = await engine.sessions.messages({ sessionID, order: "asc", limit: FIRST_MESSAGES })
  const asked = items.find((message) => message.type === "user")
  const words = asked === undefined ? "" : oneLine(asked.text, TITLE_CHARACTERS)
  return words === "" ? undefined : words
}

const FIRST_MESSAGES = 5
const TITLE_CHARACTERS = Math.min(80, ACP_LIMITS.titleCharacters)
