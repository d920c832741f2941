/**
 * The title of a session: at first the words of its first prompt, then a model's title if one is configured, and
 * permanently the title from a person who created or renamed it.
 */
import { oneLine } from "@meridian/protocol"

import type { LoggedEvent } from "./logged-event.ts"

export interface Title {
  readonly text: string
  readonly by: "person" | "model" | "words"
}

const MOST_CHARACTERS = 80

/** One line of plain text; undefined when there are no words. */
export const titleFrom = (text: string): string | undefined => {
  const line = oneLine(text.trimStart(), MOST_CHARACTERS)
  return line === "" ? undefined : line
}

export const nextTitle = (title: Title | undefined, event: LoggedEvent): Title | undefined => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest names nothing
  switch (event.type) {
    case "session.next.created.1":
      return event.data.title === undefined ? undefined : { text: event.data.title, by: "person" }
    case "session.next.renamed.1":
      return { text: event.data.title, by: "person" }
    case "session.next.titled.1":
      return title?.by === "person" ? title : { text: event.data.title, by: "model" }
    case "session.next.prompt.admitted.1":
    case "session.next.prompted.1":
      return title ?? titleOfPrompt(event.data.prompt)
    default:
      return title
  }
}

/** The report of a background call is not a prompt of a person. */
const titleOfPrompt = (prompt: {
  readonly text: string
  readonly from?: string | undefined
}): Title | undefined => {
  const text = prompt.from === undefined ? titleFrom(prompt.text) : undefined
  return text === undefined ? undefined : { text, by: "words" }
}
