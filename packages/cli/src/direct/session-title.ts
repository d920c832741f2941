/** The title of a run's session in lists: the run, then what it is about. A chat is named by its first prompt. */
import { oneLine } from "@meridian/protocol"

export const runTitle = (space: string, run: string, about: string): string => {
  const line = oneLine(about, MOST_CHARACTERS)
  return `${space}: run ${run}${line === "" ? "" : `: ${line}`}`
}

const MOST_CHARACTERS = 80
