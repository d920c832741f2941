import { oneLine } from "@meridian/protocol"
import type { SessionInfo } from "@meridian/server/contract"

import type { Route } from "./route.ts"
import { titleOf } from "./session-title.ts"

/** The title of the tab. An open question comes first, so that it is visible from another tab. */
export const pageTitle = (options: {
  readonly route: Route
  readonly sessions: readonly Pick<SessionInfo, "id" | "title">[]
  readonly questions: number
}): string => {
  const { route, sessions, questions } = options
  const mark = questions === 0 ? "" : `(${questions}) `
  const name = nameOf(route, sessions)
  return oneLine(`${mark}${name === undefined ? "" : `${name} · `}Meridian`, MOST_CHARACTERS)
}

/** Longer than any browser shows. */
const MOST_CHARACTERS = 300

const nameOf = (route: Route, sessions: readonly Pick<SessionInfo, "id" | "title">[]): string | undefined => {
  switch (route.place) {
    case "sessions":
      return undefined
    case "spaces":
      return "Spaces"
    case "questions":
      return "Questions"
    case "session":
      return titleOf(sessions.find((session) => session.id === route.id) ?? { id: route.id })
    case "space":
      return `Space ${route.id}`
    case "run":
      return `Run ${route.id}`
  }
}
