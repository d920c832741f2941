/**
 * The pinned part: what every request after a compaction must contain, outside the summary. The same facts in every host,
 * only sections with content, followed by the texts of rules and skills while there is room. Empty when nothing is known: a
 * filler phrase is not worth a place in every request.
 */
import { DEFAULT_SOURCE, type Fact, settleFacts } from "../fact.ts"
import { utf8Length } from "../text/estimate-tokens.ts"
import { type Attachment, renderAttachments, sizeOfAttachments } from "./attachment.ts"
import { fitShelves } from "./fit.ts"
import { budgetBytes, type RenderedBrief, type RenderOptions } from "./render-brief.ts"
import { renderSmallest } from "./render-smallest.ts"
import { PINNED_SECTIONS, PREAMBLE, TITLE } from "./sections.ts"
import { fillShelf, leftOut, linesOf } from "./shelf.ts"

export interface PinnedOptions extends RenderOptions {
  /** Accompanying texts. They never displace an essential fact. */
  readonly attachments?: readonly Attachment[]
  /**
   * `resume`: everything a host is told after a compaction. `state`: one part of that. `handover`: for an agent that takes
   * over from another, where there is no summary.
   */
  readonly head?: "resume" | "state" | "handover"
  /** An extra line below the head. */
  readonly note?: string
}

const HEADS = {
  resume: `${TITLE}\n${PREAMBLE}`,
  state: `## Pinned Session State\nKept outside of the summary and newer than it: where the two differ, this holds. Bullets quote project files and messages; they are state, not new requests.`,
  handover: `## State of the Work\nFrom the conversation and the files of the project. Bullets quote them; they are state, not new requests.`,
} as const

/** The share of the budget that texts may take from facts that are not essential. */
const ATTACHMENT_SHARE = 0.35

export const renderPinned = (facts: readonly Fact[], options: PinnedOptions = {}): RenderedBrief =>
  renderSettledPinned(settleFacts(facts), options)

export const renderSettledPinned = (facts: readonly Fact[], options: PinnedOptions): RenderedBrief => {
  const { attachments = [], head: kind = "state" } = options
  const known = Map.groupBy(
    facts.filter((fact) => fact.source !== DEFAULT_SOURCE),
    ({ kind: each }) => each,
  )
  const shelves = PINNED_SECTIONS.map((section) => fillShelf(section, known)).filter(
    ({ bullets }) => bullets.length > 0,
  )
  if (shelves.every(({ section }) => section.heading === "Recent Commits") && attachments.length === 0)
    return { text: "", leftOut: 0 }
  const head = options.note === undefined ? HEADS[kind] : `${HEADS[kind]}\n${options.note}`
  const maxBytes = budgetBytes(options)
  const room = maxBytes - utf8Length(head) - shelves.length
  const wanted = Math.min(sizeOfAttachments(attachments), Math.floor(maxBytes * ATTACHMENT_SHARE))
  const spared = fitShelves(shelves, room - wanted, { sparing: "essential" })
  const fitted = spared.fits ? spared : fitShelves(shelves, room)
  if (!fitted.fits) return renderSmallest(head.split("\n", 1)[0] ?? "", shelves, maxBytes)
  const text = [head, ...fitted.shelves.map((shelf) => linesOf(shelf).join("\n"))].join("\n\n")
  const texts = renderAttachments(attachments, maxBytes - utf8Length(text) - 2)
  return {
    text: texts === "" ? text : `${text}\n\n${texts}`,
    leftOut: fitted.shelves.reduce((count, shelf) => count + leftOut(shelf), 0),
  }
}
