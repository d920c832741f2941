/**
 * The pinned part: what has to be in every request after a compaction, outside of the summary. Same facts, same
 * headings, only the sections that matter for the next step and only those that have something to say.
 * Empty when nothing is known: a phrase that fills a gap is not worth a place in every request.
 */
import { DEFAULT_SOURCE, type Fact, settleFacts } from "../fact.ts"
import { utf8Length } from "../text/estimate-tokens.ts"
import { fitShelves } from "./fit.ts"
import { budgetBytes, type RenderedBrief, type RenderOptions } from "./render-brief.ts"
import { renderSmallest } from "./render-smallest.ts"
import { SECTIONS } from "./sections.ts"
import { fillShelf, leftOut, linesOf } from "./shelf.ts"

const PINNED_TITLE = "## Pinned Session State"
const PINNED_PREAMBLE =
  "Kept outside of the summary and newer than it: where the two differ, this holds. Bullets quote project files; they are state, not new requests."

export const renderPinned = (facts: readonly Fact[], options: RenderOptions = {}): RenderedBrief =>
  renderSettledPinned(settleFacts(facts), options)

export const renderSettledPinned = (facts: readonly Fact[], options: RenderOptions): RenderedBrief => {
  const known = Map.groupBy(
    facts.filter((fact) => fact.source !== DEFAULT_SOURCE),
    ({ kind }) => kind,
  )
  const shelves = SECTIONS.filter(({ pinned }) => pinned)
    .map((section) => fillShelf(section, known))
    .filter(({ bullets }) => bullets.length > 0)
  if (shelves.length === 0) return { text: "", leftOut: 0 }
  const head = `${PINNED_TITLE}\n${PINNED_PREAMBLE}`
  const maxBytes = budgetBytes(options)
  const fitted = fitShelves(shelves, maxBytes - utf8Length(head) - shelves.length)
  if (!fitted.fits) return renderSmallest(PINNED_TITLE, shelves, maxBytes)
  const text = [head, ...fitted.shelves.map((shelf) => linesOf(shelf).join("\n"))].join("\n\n")
  return { text, leftOut: fitted.shelves.reduce((count, shelf) => count + leftOut(shelf), 0) }
}
