/** What the session of a run is called in lists: whose it is, then what it is about. A chat is called by its first prompt. */
import { oneLine } from "@meridian/protocol"

export const runTitle = (space: string, run: string, about: string): string => {
  const line = oneLine(about, MOST_CHARACTERS)
  return `${space}: run ${run}${line === "" ? "" : `: ${line}`}`
}

const MOST_CHARACTERS = 80
