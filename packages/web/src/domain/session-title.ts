/** What a session is called, and whether it is one of those somebody looks for. */
import { oneLine } from "@meridian/protocol"
import type { SessionInfo } from "@meridian/server/contract"

const MOST_CHARACTERS = 120

/** Its title, or the end of its id while nothing was asked in it: an id alone tells nobody anything. */
export const titleOf = (session: Pick<SessionInfo, "id" | "title">): string => {
  const title = oneLine(session.title ?? "", MOST_CHARACTERS)
  return title === "" ? `Untitled …${session.id.slice(-6)}` : title
}

/** Every word of the search is in its title, place, model, state or id. */
export const matchesSearch = (session: SessionInfo, search: string): boolean => {
  const { id, title = "", location, model = "", agent, status } = session
  const text = [id, title, location.directory, model, agent, status].join("\n").toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
