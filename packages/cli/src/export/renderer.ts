/** How an export is laid out, piece by piece: a session of any size is written without holding it in memory. */
import type { ExportEntry, ExportHead } from "./entry.ts"

export interface ExportEnd {
  /** Kind of secret -> how many were hidden. */
  readonly hidden: ReadonlyMap<string, number>
  /** What the source has but the export cannot show, one sentence each. */
  readonly lost: readonly string[]
}

export interface Renderer {
  readonly begin: (head: ExportHead) => string
  readonly entry: (entry: ExportEntry) => string
  readonly end: (end: ExportEnd) => string
}

/** The same in a sentence. */
export const hiddenSentence = (hidden: ReadonlyMap<string, number>): string => {
  const count = hiddenCount(hidden)
  if (count === 0) return "No secrets were found to hide."
  const kinds = [...hidden].map(([kind, times]) => `${times} ${kind}`).join(", ")
  return `${count} secret${count === 1 ? " was" : "s were"} hidden: ${kinds}.`
}

export const hiddenCount = (hidden: ReadonlyMap<string, number>): number =>
  [...hidden.values()].reduce((sum, times) => sum + times, 0)
