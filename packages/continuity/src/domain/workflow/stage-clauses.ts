/** The clauses of a log line: what a clause says applies only to the stages it names. */
import type { Link } from "./stage-standing.ts"

export interface Clause {
  readonly start: number
  readonly end: number
  /** How it is joined to the previous clause: words of sequence, an arrow, anything else. */
  readonly link: Link
  /** Joined by a comma or a word, not started anew after a full stop. */
  readonly isJoined: boolean
  /** The previous clause states a condition for it: "once the design is approved, …". */
  readonly isConditional: boolean
}

/** Full stops, commas, dashes, arrows, and words that begin a new thought. */
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
    // A meaningful word of the break stays with the clause it begins.
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

/** The clause at a position in the line. */
export const clauseAt = (clauses: readonly Clause[], place: number): Clause =>
  clauses.findLast(({ start }) => place >= start) ?? WHOLE

const WHOLE: Clause = {
  start: 0,
  end: Number.MAX_SAFE_INTEGER,
  link: "other",
  isJoined: false,
  isConditional: false,
}
