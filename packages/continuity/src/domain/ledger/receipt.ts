/**
 * What one compaction of a host kept, lost and made up, and what was put back: the facts the ledger knew before it, held
 * against the summary and against what was injected after it.
 */
import type { FactKind } from "../fact.ts"

export interface HostCompaction {
  /** From 1. */
  readonly number: number
  readonly time: number | undefined
  readonly summary: string
  readonly invented: readonly string[]
  /** What was known when it happened. */
  readonly facts: readonly KnownFact[]
}

export interface KnownFact {
  readonly kind: string
  readonly text: string
}

export interface HostReceipt {
  readonly number: number
  readonly time: number | undefined
  readonly summary: string
  /** In the summary itself. */
  readonly kept: readonly KnownFact[]
  /** Not in the summary, and in what was put into the next request. */
  readonly putBack: readonly KnownFact[]
  /** In neither. */
  readonly lost: readonly KnownFact[]
  readonly invented: readonly string[]
  /** Whether the next request was told that nobody asked for it. */
  readonly isContradicted: boolean
}

export const receiptOf = (compaction: HostCompaction, injected: readonly string[]): HostReceipt => {
  const { number, time, summary, invented } = compaction
  const told = normalize(injected.join("\n"))
  const said = normalize(summary)
  const worth = compaction.facts.filter(({ kind }) => WORTH.has(kind))
  const kept = worth.filter(({ text }) => holds(said, text))
  const rest = worth.filter((fact) => !kept.includes(fact))
  const putBack = rest.filter(({ text }) => holds(told, text))
  return {
    number,
    time,
    summary,
    kept,
    putBack,
    lost: rest.filter((fact) => !putBack.includes(fact)),
    invented,
    isContradicted: invented.length > 0 && invented.every((claim) => holds(told, claim)),
  }
}

/** Facts a person would miss; a list of everything that was ever done is not one. */
const WORTH: ReadonlySet<string> = new Set<FactKind>([
  "task",
  "task-change",
  "request",
  "constraint",
  "objective",
  "decision",
  "blocker",
  "next-action",
  "todo",
  "skill",
  "run",
  "agent",
  "mode",
  "file",
  "stage",
  "rule",
])

/** Word for word, but for letter case, signs and a cut end. */
const holds = (haystack: string, text: string): boolean => {
  const wanted = normalize(text.slice(0, COMPARED))
  return wanted !== "" && haystack.includes(wanted)
}

const COMPARED = 160

const normalize = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
