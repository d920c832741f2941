/** The clauses of a line of a log: what is said in one of them holds for the stages it names, and for no others. */
import type { Link } from "./stage-standing.ts"

export interface Clause {
  readonly start: number
  readonly end: number
  /** What joins it to the clause before: words of sequence, an arrow, anything else. */
  readonly link: Link
  /** Joined by a comma or a word, not begun anew behind a stop. */
  readonly isJoined: boolean
  /** The clause before it says under which condition it holds: "once the design is approved, …". */
  readonly isConditional: boolean
}

/** At stops, commas, dashes, arrows, and words that begin a thought of their own. */
const BREAK =
  /[.;!?](?=\s|$)|,(?=\s)|\s[—–-]{1,2}\s|\s[|/](?=\s[\w\s]{1,20}[:=])|(?<![=:]\s?)[([](?=[\w\s]{0,20}(?:spec|bug)-)|\s?(?:->|→|=>|➜)(?!\s*(?:done|doing|in progress|todo|closed|ok)\b)\s?|\s(?:and then|then|after that|afterwards|followed by)\s|\s(?:but|so|while|and now|now(?!\s+(?:->|→|=>|➜)))\s/gi

const SEQUENCE = /then|after that|afterwards|followed by/i
const CONDITION = /^\s*(?:once|if|when|as soon as|until|unless|should)\b/i

export const clausesOf = (line: string): readonly Clause[] => {
  const clauses: Clause[] = []
  let start = 0
  let link: Link = "other"
  let isJoined = false
  let isConditional = false
  for (const match of line.matchAll(BREAK)) {
    // Words of the break that carry meaning stay with the clause they begin.
    const isWord = /\b(?:but|so|while|now)\b/i.test(match[0])
    const end = match.index + (isWord ? 0 : match[0].length)
    clauses.push({ start, end, link, isJoined, isConditional })
    isJoined = !/^[.;!?]/.test(match[0])
    isConditional = isJoined && CONDITION.test(line.slice(start, end))
    start = end
    link = SEQUENCE.test(match[0]) ? "then" : /->|→|=>|➜/.test(match[0]) ? "arrow" : "other"
  }
  return [...clauses, { start, end: line.length, link, isJoined, isConditional }]
}

/** The clause a place of the line belongs to. */
export const clauseAt = (clauses: readonly Clause[], place: number): Clause =>
  clauses.findLast(({ start }) => place >= start) ?? WHOLE

const WHOLE: Clause = {
  start: 0,
  end: Number.MAX_SAFE_INTEGER,
  link: "other",
  isJoined: false,
  isConditional: false,
}
