/** The brief for a budget that cannot hold the headings: the most important sections that fit, or even less. */
import { utf8Length } from "../text/estimate-tokens.ts"
import { leftOut, linesOf, type Shelf } from "./shelf.ts"

export const renderSmallest = (
  title: string,
  shelves: readonly Shelf[],
  maxBytes: number,
): { readonly text: string; readonly leftOut: number } => {
  const facts = shelves.reduce((count, shelf) => count + shelf.shown + leftOut(shelf), 0)
  if (utf8Length(title) > maxBytes) return { text: "", leftOut: facts }
  const chosen = new Map<Shelf, Shelf>()
  let room = maxBytes - utf8Length(title)
  for (const shelf of shelves.toSorted((left, right) => right.section.rank - left.section.rank)) {
    if (shelf.shown === 0) continue
    const long = { ...shelf, shown: 1, maxLength: 80 }
    const short = { ...long, maxLength: 40 }
    const fitting = [long, short].find((smaller) => blockSize(smaller) <= room)
    if (fitting === undefined) break
    chosen.set(shelf, fitting)
    room -= blockSize(fitting)
  }
  const kept = shelves.flatMap((shelf) => chosen.get(shelf) ?? [])
  const text = [title, ...kept.map((shelf) => linesOf(shelf).join("\n"))].join("\n\n")
  return { text, leftOut: facts - kept.length }
}

/** Includes the blank line before it. */
const blockSize = (shelf: Shelf): number => utf8Length(linesOf(shelf).join("\n")) + 2
