/** The name of a session, and whether it matches a search. */
import { oneLine } from "@meridian/protocol"
import type { SessionInfo } from "@meridian/server/contract"

const MOST_CHARACTERS = 120

/** Its title, or the end of its id until something was asked in it. An id alone means nothing to people. */
export const titleOf = (session: Pick<SessionInfo, "id" | "title">): string => {
  const title = oneLine(session.title ?? "", MOST_CHARACTERS)
  return title === "" ? `Untitled …${session.id.slice(-6)}` : title
}

/** Every word of the search occurs in its title, place, model, state or id. */
export const matchesSearch = (session: SessionInfo, search: string): boolean => {
  const { id, title = "", location, model = "", agent, status } = session
  const text = [id, title, location.directory, model, agent, status].join("\n").toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
