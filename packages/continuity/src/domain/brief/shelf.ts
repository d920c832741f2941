/** One section of a brief during fitting: all its bullets, and how many of them are currently shown. */
import type { Fact, FactKind } from "../fact.ts"
import { utf8Length } from "../text/estimate-tokens.ts"
import { cutLine, quoteLine, sanitizeLine } from "../text/sanitize-line.ts"
import { NOTHING, type Section } from "./sections.ts"

export interface Shelf {
  readonly section: Section
  readonly bullets: readonly string[]
  /** Facts that never became a bullet, because the section is limited. */
  readonly beyond: number
  readonly shown: number
  /** The length to which every bullet is cut. */
  readonly maxLength: number
}

/** Facts by kind, so that a brief goes through them once. */
export type FactsByKind = ReadonlyMap<FactKind, readonly Fact[]>

/** Puts settled facts into a section: cleaned, without empty ones and repetitions, up to its limit. */
export const fillShelf = (section: Section, facts: FactsByKind): Shelf => {
  const own = section.kinds.flatMap((kind) => facts.get(kind) ?? [])
  const { bullets, beyond } = section.isQuote ? quotedLines(section, own) : bulletsOf(section, own)
  return { section, bullets, beyond, shown: bullets.length, maxLength: section.bulletLength }
}

interface Filled {
  readonly bullets: readonly string[]
  readonly beyond: number
}

const bulletsOf = (section: Section, own: readonly Fact[]): Filled => {
  const inOrderOfWorth = section.keep === "newest" ? own.toReversed() : own
  const kept = new Set<string>()
  let beyond = 0
  for (const { text } of inOrderOfWorth) {
    if (kept.size === section.limit) beyond += 1
    else kept.add(sanitizeLine(text, section.bulletLength))
    kept.delete("")
  }
  return { bullets: section.keep === "newest" ? [...kept].toReversed() : [...kept], beyond }
}

/** The lines of somebody's words in order, up to the section's limit. */
const quotedLines = (section: Section, own: readonly Fact[]): Filled => {
  const lines = own
    .flatMap(({ text }) => text.slice(0, 16 * section.bulletLength).split("\n"))
    .map((line) => quoteLine(line, section.bulletLength))
    .filter((line) => line !== "")
  const bullets: string[] = []
  let room = section.bulletLength
  for (const line of lines) {
    if (bullets.length === section.limit || (room < line.length && bullets.length > 0)) break
    bullets.push(line)
    room -= line.length
  }
  return { bullets, beyond: lines.length - bullets.length }
}

/** The lines of a section: the heading, directly followed by its bullets. */
export const linesOf = (shelf: Shelf): readonly string[] => {
  const { section, bullets, shown } = shelf
  const visible = section.keep === "newest" ? bullets.slice(bullets.length - shown) : bullets.slice(0, shown)
  const hidden = leftOut(shelf)
  const heading = `## ${section.heading}`
  if (visible.length === 0) return [heading, hidden === 0 ? `- ${NOTHING}` : `- ${hidden} left out`]
  const sign = section.isQuote ? ">" : "-"
  const said = visible.map((bullet) => `${sign} ${cutLine(bullet, shelf.maxLength)}`)
  return hidden === 0 ? [heading, ...said] : [heading, ...said, `- ... and ${hidden} more`]
}

export const leftOut = ({ bullets, beyond, shown }: Shelf): number => beyond + bullets.length - shown

/** The bytes of the section, including line ends. */
export const sizeOf = (shelf: Shelf): number =>
  linesOf(shelf).reduce((bytes, line) => bytes + utf8Length(line) + 1, 0)

/**
 * The same section with fewer bullets, but at least `least`. Returns the same shelf when that would not make it smaller: a
 * short bullet may be cheaper than the note that it is missing.
 */
export const shrink = (shelf: Shelf, least: number): Shelf => {
  const size = sizeOf(shelf)
  for (let shown = shelf.shown - 1; shown >= least; shown -= 1) {
    const smaller = { ...shelf, shown }
    if (sizeOf(smaller) < size) return smaller
  }
  return shelf
}
