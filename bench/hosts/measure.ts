/** Turns the requests of a host into figures. Presence is measured, not what a model makes of it. */
import { estimateTokens } from "@meridian/continuity"

import type { AfterCompaction, MeasuredHost } from "./host.ts"
import { INVENTION, SUMMARIES, type Kind, type Round, type SummaryName } from "./tale.ts"

export interface Figures {
  readonly host: string
  readonly version: string
  readonly compactions: number
  readonly facts: number
  readonly present: number
  /** None for our own engine. */
  readonly presentWithoutUs: number | null
  /** Missing facts, for debugging. */
  readonly missing: readonly string[]
  readonly stale: readonly string[]
  readonly invented: number
  readonly contradicted: number
  readonly tokensAtMost: number
  readonly hookMsAtMost: number
}

export const measureHost = async (
  host: MeasuredHost,
  given: { readonly rounds: readonly Round[]; readonly summaries: readonly SummaryName[] },
): Promise<Figures> => {
  const seen: Look[] = []
  let presentWithoutUs = host.canBeAlone ? 0 : null
  for (const summary of given.summaries) {
    const telling = { summary, rounds: given.rounds }
    const after = await host.live({ ...telling, withUs: true })
    seen.push(...given.rounds.map((round, index) => lookAt(summary, round, index, after[index])))
    if (presentWithoutUs === null) continue
    const alone = await host.live({ ...telling, withUs: false })
    presentWithoutUs += given.rounds.reduce(
      (sum, { facts }, index) => sum + facts.filter(({ texts }) => holds(alone[index], texts)).length,
      0,
    )
  }
  return {
    host: host.name,
    version: host.version(),
    compactions: seen.length,
    facts: total(seen, ({ facts }) => facts),
    present: total(seen, ({ facts, missing }) => facts - missing.length),
    presentWithoutUs,
    missing: seen.flatMap(({ missing }) => missing),
    stale: seen.flatMap(({ stale }) => stale),
    invented: seen.filter(({ isInvented }) => isInvented).length,
    contradicted: seen.filter(({ isInvented, isContradicted }) => isInvented && isContradicted).length,
    tokensAtMost: Math.max(...seen.map(({ tokens }) => tokens)),
    hookMsAtMost: Math.max(...seen.map(({ ms }) => ms)),
  }
}

/** How a host falls short of the goal, one line each. */
export const shortfallsOf = (figures: Figures): readonly string[] => {
  const { host, facts, present, stale, invented, contradicted, tokensAtMost } = figures
  const least = figures.presentWithoutUs === null ? 1 : 0.95
  return [
    ...(present < least * facts ? [`${host}: ${present} of ${facts} facts`] : []),
    ...(stale.length > 0 ? [`${host}: stale ${stale.join(", ")}`] : []),
    ...(contradicted < invented ? [`${host}: ${contradicted} of ${invented} inventions contradicted`] : []),
    ...(tokensAtMost > 1_000 ? [`${host}: ${tokensAtMost} tokens`] : []),
  ]
}

interface Look {
  readonly facts: number
  readonly missing: readonly string[]
  readonly stale: readonly string[]
  readonly isInvented: boolean
  readonly isContradicted: boolean
  readonly tokens: number
  readonly ms: number
}

const lookAt = (
  summary: SummaryName,
  round: Round,
  index: number,
  after: AfterCompaction | undefined,
): Look => {
  const where = `${summary} ${index + 1}`
  const block = ours(after)
  const named = (kind: Kind, texts: readonly string[]): string =>
    `${where}: ${kind} (${texts.filter((text) => !holds(after, [text])).join(", ")})`
  return {
    facts: round.facts.length,
    missing: round.facts.flatMap(({ kind, texts }) => (holds(after, texts) ? [] : [named(kind, texts)])),
    stale: round.stale
      .filter(
        ({ value, newest }) => block.includes(value) && (newest === undefined || !block.includes(newest)),
      )
      .map(({ value }) => `${where}: ${value}`),
    isInvented: SUMMARIES[summary].includes(INVENTION),
    isContradicted: isContradicted(after),
    tokens: estimateTokens(block),
    ms: after?.ms ?? 0,
  }
}

const holds = (after: AfterCompaction | undefined, texts: readonly string[]): boolean =>
  after !== undefined && texts.every((wanted) => after.texts.some((text) => text.includes(wanted)))

const TITLES = ["## Stage-Aware Continuation", "## Pinned Session State"] as const

/** What we put into the request: the newest of our blocks, when a host keeps older ones. */
const ours = (after: AfterCompaction | undefined): string =>
  (after?.texts ?? [])
    .flatMap((text) => {
      const at = Math.max(...TITLES.map((title) => text.lastIndexOf(title)))
      return at === -1 ? [] : [text.slice(at)]
    })
    .at(-1) ?? ""

/** Contradicted by name, or by listing what the user really said and nothing else; or not told at all. */
const isContradicted = (after: AfterCompaction | undefined): boolean => {
  if (after === undefined) return false
  if (!holds(after, [INVENTION])) return true
  const block = ours(after)
  return block.includes(`"${INVENTION}"; no such message exists`) || block.includes("was never made")
}

const total = (seen: readonly Look[], of: (look: Look) => number): number =>
  seen.reduce((sum, look) => sum + of(look), 0)
