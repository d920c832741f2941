/** What a terminal that can only go forward is sent, so that it shows rows and then the line being written. Pure. */
import { widthOf } from "./columns.ts"

export interface Advance {
  readonly output: string
  /** What the line shows afterwards. */
  readonly line: string
}

export const advance = (
  shown: string,
  next: { readonly rows: readonly string[]; readonly line: string },
): Advance => {
  const { rows, line } = next
  if (rows.length === 0) return { output: change(shown, line), line }
  // What was typed stands there already: it only has to be ended.
  const typed = shown !== "" && rows[0] === shown
  const told = (typed ? rows.slice(1) : rows).map((row) => `${row}\r\n`).join("")
  return { output: leave(shown) + told + line, line }
}

const change = (from: string, to: string): string => {
  if (to.startsWith(from)) return to.slice(from.length)
  if (to !== "" && from.startsWith(to)) return erase(from.slice(to.length))
  return leave(from) + to
}

/** A line with words in it is left standing; one that only asks for them goes. */
const leave = (line: string): string => (/^\S+ $/.test(line) ? erase(line) : line === "" ? "" : "\r\n")

const erase = (text: string): string => "\b \b".repeat(widthOf(text))
