/** What was stated and still holds: newer statements replace older ones of the same thing, and some are taken back. */
import { type Heard, type Speaker, type StatementKind } from "./statement.ts"
import { isAbout, supersedes, topicOf } from "./topic.ts"

export interface Said {
  readonly kind: StatementKind
  /** Word for word. */
  readonly text: string
  readonly order: number
  readonly speaker: Speaker
}

/** Of each kind; the oldest goes first. */
const KEPT = {
  constraint: 40,
  decision: 60,
  blocker: 20,
  rule: 40,
  objective: 1,
  stage: 1,
  "next-action": 1,
} as const satisfies Record<StatementKind, number>

export const noteHeard = (
  said: readonly Said[],
  heard: Heard,
  at: { readonly order: number; readonly speaker: Speaker },
): readonly Said[] => {
  if (heard.tag === "withdrawn") return withdraw(said, heard, at.speaker)
  const { kind, text } = heard
  const others = said.filter((known) => known.kind !== kind || !isReplaced(known, text))
  return bounded([...others, { kind, text, ...at }], kind)
}

/** The same words again, or newer words for the same thing. An agent does not overrule a person. */
const isReplaced = (known: Said, text: string): boolean =>
  KEPT[known.kind] === 1 || sameWords(known.text, text) || supersedes(text, known.text)

const withdraw = (
  said: readonly Said[],
  { kind, text }: Extract<Heard, { tag: "withdrawn" }>,
  speaker: Speaker,
): readonly Said[] => {
  const candidates = said.filter(
    (known) =>
      (kind === undefined || known.kind === kind) && (speaker === "user" || known.kind !== "constraint"),
  )
  const exact = candidates.filter((known) => sameWords(known.text, text))
  if (exact.length > 0) return said.filter((known) => !exact.includes(known))
  const topic = topicOf(text)
  const meant = candidates.filter((known) => isAbout(topic, topicOf(known.text)))
  // "Unblocked." without a word on what: the only blocker there is.
  if (meant.length === 0 && kind === "blocker" && candidates.length === 1)
    return said.filter((known) => known !== candidates[0])
  return said.filter((known) => !meant.includes(known))
}

const bounded = (said: readonly Said[], kind: StatementKind): readonly Said[] => {
  const own = said.filter((known) => known.kind === kind)
  const [oldest] = own
  return own.length > KEPT[kind] ? said.filter((known) => known !== oldest) : said
}

const sameWords = (left: string, right: string): boolean => wordsOf(left) === wordsOf(right)

const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
