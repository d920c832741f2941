/**
 * What one compaction of a host kept, lost and invented, and what was put back. The facts that the ledger knew before it
 * are compared with the summary and with what was injected afterwards.
 */
import type { FactKind } from "../fact.ts"

export interface HostCompaction {
  /** Counted from 1. */
  readonly number: number
  readonly time: number | undefined
  readonly summary: string
  readonly invented: readonly string[]
  /** The facts known at that time. */
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
  /** Facts in the summary itself. */
  readonly kept: readonly KnownFact[]
  /** Facts missing from the summary but added to the next request. */
  readonly putBack: readonly KnownFact[]
  /** Facts in neither. */
  readonly lost: readonly KnownFact[]
  readonly invented: readonly string[]
  /** Whether the next request said that nobody had asked for it. */
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

/** Facts that a person would miss. A list of everything that was done is not among them. */
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

/** Word for word, ignoring letter case, punctuation and a cut end. */
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
