/** The output for a terminal that can only move forward, so that it shows rows and then the line being written. Pure. */
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
  // The typed text is already there, so it only needs its line end.
  const typed = shown !== "" && rows[0] === shown
  const told = (typed ? rows.slice(1) : rows).map((row) => `${row}\r\n`).join("")
  return { output: leave(shown) + told + line, line }
}

const change = (from: string, to: string): string => {
  if (to.startsWith(from)) return to.slice(from.length)
  if (to !== "" && from.startsWith(to)) return erase(from.slice(to.length))
  return leave(from) + to
}

/** A line with words in it stays; an empty prompt is erased. */
const leave = (line: string): string => (/^\S+ $/.test(line) ? erase(line) : line === "" ? "" : "\r\n")

const erase = (text: string): string => "\b \b".repeat(widthOf(text))
