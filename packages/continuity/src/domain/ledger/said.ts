/** Statements that still hold. Newer statements replace older ones about the same thing, and some are withdrawn. */
import { type Heard, type Speaker, type StatementKind } from "./statement.ts"
import { changesValue, isAbout, isChange, type ReadTopic, supersedes } from "./topic.ts"

export interface Said {
  readonly kind: StatementKind
  /** Word for word. */
  readonly text: string
  readonly order: number
  readonly speaker: Speaker
}

/** How many of each kind are kept. The oldest is dropped first. */
const KEPT = {
  constraint: 40,
  decision: 60,
  blocker: 20,
  rule: 40,
  objective: 1,
  stage: 1,
  "next-action": 1,
} as const satisfies Record<StatementKind, number>

export interface Hearing {
  readonly order: number
  readonly speaker: Speaker
  readonly readTopic: ReadTopic
}

export const noteHeard = (said: readonly Said[], heard: Heard, hearing: Hearing): readonly Said[] => {
  if (heard.tag === "withdrawn") return withdraw(said, heard, hearing)
  const { kind, text } = heard
  const { order, speaker, readTopic } = hearing
  const others = said.filter((known) => known.kind !== kind || !isReplaced(known, text, readTopic))
  return bounded([...others, { kind, text, order, speaker }], kind)
}

/** The same words again, or newer words about the same thing. An agent does not overrule a person. */
const isReplaced = (known: Said, text: string, readTopic: ReadTopic): boolean =>
  KEPT[known.kind] === 1 ||
  readTopic(known.text).plain === readTopic(text).plain ||
  supersedes(text, known.text, readTopic)

/**
 * A person may change a value in passing ("actually make that 5 retries"), in a sentence that is not a constraint itself.
 * It replaces the constraint it is about.
 */
export const noteChanges = (
  said: readonly Said[],
  sentences: readonly string[],
  { order, readTopic }: Hearing,
): readonly Said[] =>
  sentences
    .filter((sentence) => isChange(sentence) && !sentence.endsWith("?"))
    .reduce((before, text) => {
      const now = readTopic(text)
      const isMeant = (known: Said): boolean => {
        const then = readTopic(known.text)
        return known.kind === "constraint" && known.order < order && changesValue(now, then)
      }
      if (!before.some(isMeant)) return before
      const others = before.filter((known) => !isMeant(known) && known.text !== text)
      return [...others, { kind: "constraint", text, order, speaker: "user" }]
    }, said)

const withdraw = (
  said: readonly Said[],
  { kind, text }: Extract<Heard, { tag: "withdrawn" }>,
  { speaker, readTopic }: Hearing,
): readonly Said[] => {
  const candidates = said.filter(
    (known) =>
      (kind === undefined || known.kind === kind) && (speaker === "user" || known.kind !== "constraint"),
  )
  const topic = readTopic(text)
  const exact = candidates.filter((known) => readTopic(known.text).plain === topic.plain)
  if (exact.length > 0) return said.filter((known) => !exact.includes(known))
  const meant = candidates.filter((known) => isAbout(topic, readTopic(known.text)))
  // "Unblocked." without saying what: applies when there is only one blocker.
  if (meant.length === 0 && kind === "blocker" && candidates.length === 1)
    return said.filter((known) => known !== candidates[0])
  return said.filter((known) => !meant.includes(known))
}

const bounded = (said: readonly Said[], kind: StatementKind): readonly Said[] => {
  const own = said.filter((known) => known.kind === kind)
  const [oldest] = own
  return own.length > KEPT[kind] ? said.filter((known) => known !== oldest) : said
}
