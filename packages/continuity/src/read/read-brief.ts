/** The one entry of the plugin, the engine and `meridian brief`: looks at a project and says what must survive. */
import { renderBrief } from "../domain/brief/render-brief.ts"
import { renderPinned } from "../domain/brief/render-pinned.ts"
import { appendFacts, type Fact } from "../domain/fact.ts"
import type { ReadLimits } from "../domain/limits.ts"
import { openGuardedReader } from "./guarded-reader.ts"
import { openReadBudget } from "./read-budget.ts"

export interface ReadBriefOptions {
  readonly root: string
  readonly maxTokens?: number
  /** What the caller knows beside the files (its log, its working set). Newer than the files: a single value replaces theirs. */
  readonly facts?: readonly Fact[]
  readonly limits?: Partial<ReadLimits>
  readonly clock?: () => number
}

export type BriefMode = "generic" | `workflow:spec/${string}` | `workflow:bug/${string}`

export interface Brief {
  readonly text: string
  /** The part for every later request; empty when nothing is known. */
  readonly pinned: string
  readonly mode: BriefMode
  /** The artifact the workflow is at, relative to the root. */
  readonly artifact: string | undefined
  readonly facts: readonly Fact[]
  /** Facts that found no room in the text. */
  readonly leftOut: number
  /** What was there and could not be used, one line each. */
  readonly warnings: readonly string[]
}

/** Never throws; a tree that cannot be read gives the brief of an empty one, with warnings. */
export const readBrief = async (options: ReadBriefOptions): Promise<Brief> => {
  const warnings: string[] = []
  const budget = openReadBudget({
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  const reader = openGuardedReader(options.root, budget)
  const session = reader.read("SESSION.md", { part: "ends" })
  if (session.kind === "refused") warnings.push(`SESSION.md: ${session.reason}`)
  const facts = appendFacts([], options.facts ?? [])
  const limits = options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }
  const rendered = renderBrief(facts, limits)
  return {
    text: rendered.text,
    pinned: renderPinned(facts, limits).text,
    mode: "generic",
    artifact: undefined,
    facts,
    leftOut: rendered.leftOut,
    warnings,
  }
}
