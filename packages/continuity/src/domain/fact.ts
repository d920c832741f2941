/**
 * A fact is one sentence worth keeping across a compaction: its kind, its source, and its place in time. Files, the
 * engine's log and the plugin's hooks all produce facts, and the brief is rendered only from facts.
 */

/** Named after the sections of the brief; the table in `brief/sections.ts` places every kind. */
export type FactKind =
  | "task"
  | "task-change"
  | "request"
  | "user-message"
  | "constraint"
  | "objective"
  | "step"
  | "status"
  | "completed"
  | "remaining"
  | "todo"
  | "decision"
  | "file"
  | "blocker"
  | "next-action"
  | "rule"
  | "agent"
  | "mode"
  | "skill"
  | "run"
  | "focus"
  | "open-work"
  | "pending-tests"
  | "commit"
  | "invented"
  | "workflow"
  | "stage"
  | "source-artifact"
  | "current-artifact"
  | "artifact-status"
  | "gate"
  | "approval"
  | "open-question"
  | "precondition"
  | "done-criterion"

export interface Fact {
  readonly kind: FactKind
  readonly text: string
  /** A path relative to the root, `log`, or `default` for a phrase that only fills a gap. */
  readonly source: string
  /** Its place in time within its source; larger is newer. */
  readonly order: number
  /** Identity over time: a newer fact of the same kind and key replaces this one. Default: the text. */
  readonly key?: string
  /** Cancels the fact with the same kind and key (or text). It is not shown itself. */
  readonly withdrawn?: true
}

/** The source of phrases that only fill a gap. They never make a brief worth pinning. */
export const DEFAULT_SOURCE = "default"

/** Kinds of which only the newest fact is true, unless keys distinguish them. */
const SINGLE: ReadonlySet<FactKind> = new Set([
  "task",
  "request",
  "objective",
  "step",
  "status",
  "next-action",
  "agent",
  "mode",
  "focus",
  "workflow",
  "stage",
  "current-artifact",
  "artifact-status",
  "gate",
])

/** The facts that hold in the end: the newest value per identity, without cancelled ones, in order of time. */
export const settleFacts = (facts: readonly Fact[]): readonly Fact[] => {
  const current = new Map<string, Fact>()
  for (const fact of inTime(facts)) {
    const identity = identityOf(fact)
    const known = current.get(identity)
    if (fact.withdrawn === true) current.delete(identity)
    else if (known === undefined) current.set(identity, fact)
    else if (known.text !== fact.text) {
      current.delete(identity)
      current.set(identity, fact)
    }
  }
  return [...current.values()]
}

/** Most lists are already in order, and checking is cheaper than sorting. */
const inTime = (facts: readonly Fact[]): readonly Fact[] =>
  facts.every(({ order }, index) => index === 0 || order >= (facts[index - 1]?.order ?? order))
    ? facts
    : facts.toSorted((left, right) => left.order - right.order)

/** The facts of two sources as one history: everything in `newer` comes after everything in `older`. */
export const appendFacts = (older: readonly Fact[], newer: readonly Fact[]): readonly Fact[] =>
  [...inTime(older), ...inTime(newer)].map(atOrder)

const atOrder = (fact: Fact, order: number): Fact => ({ ...fact, order })

const identityOf = (fact: Fact): string =>
  `${fact.kind}\n${fact.key ?? (SINGLE.has(fact.kind) ? "" : fact.text)}`
