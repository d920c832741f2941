/**
 * Facts become the brief: one pure function, within a token budget for every input, same text for same facts.
 *
 *     ## Stage-Aware Continuation
 *     <preamble>
 *
 *     ## <heading>            nine generic headings, then those of declared rules, agents and runs
 *     - <bullet>              or "- none recorded"
 *
 *     ---
 *
 *     ## Workflow-Aware Augmentation      only when a workflow is active
 *     <preamble>
 *
 *     ## <heading>            ten workflow headings
 */
import { type Fact, settleFacts } from "../fact.ts"
import { TEXT_LIMITS } from "../limits.ts"
import { BYTES_PER_TOKEN, utf8Length } from "../text/estimate-tokens.ts"
import { fitShelves } from "./fit.ts"
import { renderSmallest } from "./render-smallest.ts"
import { AUGMENTATION_PREAMBLE, AUGMENTATION_TITLE, PREAMBLE, SECTIONS, TITLE } from "./sections.ts"
import { fillShelf, leftOut, linesOf, type Shelf } from "./shelf.ts"

export interface RenderOptions {
  readonly maxTokens?: number
}

export interface RenderedBrief {
  readonly text: string
  /** Facts that did not fit. */
  readonly leftOut: number
}

export const renderBrief = (facts: readonly Fact[], options: RenderOptions = {}): RenderedBrief =>
  renderSettledBrief(settleFacts(facts), options)

export const renderSettledBrief = (facts: readonly Fact[], options: RenderOptions): RenderedBrief => {
  const maxBytes = budgetBytes(options)
  const settled = Map.groupBy(placeStage(facts), ({ kind }) => kind)
  const workflow = settled.has("workflow")
  const shelves = SECTIONS.filter(({ layer }) => layer !== "workflow" || workflow)
    .map((section) => fillShelf(section, settled))
    .filter(({ section, bullets }) => section.layer !== "extra" || bullets.length > 0)
  const fitted = fitShelves(shelves, maxBytes - utf8Length(compose([], workflow)) - shelves.length)
  if (!fitted.fits) return renderSmallest(TITLE, shelves, maxBytes)
  return { text: compose(fitted.shelves, workflow), leftOut: sum(fitted.shelves.map(leftOut)) }
}

export const budgetBytes = ({ maxTokens = TEXT_LIMITS.briefTokens }: RenderOptions): number =>
  Math.max(0, Math.floor(maxTokens)) * BYTES_PER_TOKEN

const compose = (shelves: readonly Shelf[], workflow: boolean): string => {
  const blocks = (layer: boolean): readonly string[] =>
    shelves
      .filter(({ section }) => (section.layer === "workflow") === layer)
      .map((shelf) => linesOf(shelf).join("\n"))
  const generic = [`${TITLE}\n${PREAMBLE}`, ...blocks(false)]
  const augmentation = workflow
    ? ["---", `${AUGMENTATION_TITLE}\n${AUGMENTATION_PREAMBLE}`, ...blocks(true)]
    : []
  return [...generic, ...augmentation].join("\n\n")
}

/** A declared stage or gate outside the two canonical workflows is part of the status. */
const placeStage = (facts: readonly Fact[]): readonly Fact[] => {
  if (facts.some((fact) => fact.kind === "workflow")) return facts
  return facts.map((fact) => {
    if (fact.kind === "stage") return { ...fact, kind: "status", text: `Stage: ${fact.text}` }
    if (fact.kind === "gate") return { ...fact, kind: "status", text: `Gate: ${fact.text}` }
    return fact
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
