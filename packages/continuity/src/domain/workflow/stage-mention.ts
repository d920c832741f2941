/**
 * Stages that a line of a log names, read as a person reads it: is this what is to be done now, is it done, denied, still
 * to be approved, or something for later? A name inside another word (`debug-fixes`) is none, and three names in one line
 * are a vocabulary, not a state.
 *
 * One pass over short lines; every pattern is bounded by the clause it looks at.
 */
import { standingOf, type Link, type Standing } from "./stage-standing.ts"
import { BUG_STAGES, SPEC_STAGES, type Stage } from "./stage.ts"

export interface StageMention {
  readonly stage: Stage
  /** `/bug-fix`, not `bug-fix`. */
  readonly isCommand: boolean
  readonly standing: Standing
}

export const stageMentions = (line: string): readonly StageMention[] => {
  if (!line.includes("spec-") && !line.includes("bug-")) return []
  const text = line.slice(0, MAX_LENGTH)
  const names = [...text.matchAll(STAGE_NAME)].flatMap(({ 0: name, index }) => {
    const stage = STAGES.find((each) => each === name)
    return stage === undefined ? [] : [{ stage, start: index, end: index + name.length }]
  })
  if (new Set(names.map(({ stage }) => stage)).size >= VOCABULARY) return []
  const clauses = clausesOf(text)
  const mentions: StageMention[] = []
  let listed: Standing | undefined
  for (const [place, { stage, start, end }] of names.entries()) {
    const clause = clauses.find((each) => start >= each.start && start < each.end)
    if (clause === undefined) continue
    const earlier = names[place - 1]
    const next = names[place + 1]
    const isFirst = earlier === undefined || earlier.start < clause.start
    const before = text.slice(isFirst ? clause.start : earlier.end, start)
    const after = text.slice(end, next === undefined ? clause.end : Math.min(next.start, clause.end))
    const isCommand = text[start - 1] === "/" && !/\w/.test(text[start - 2] ?? "")
    const own = standingOf({
      before,
      after,
      isCommand,
      link: isFirst ? clause.link : "other",
      isOpen: clause.isConditional || isQuestion(text.slice(clause.start, clause.end)),
      isLeft: next !== undefined && /^[\s`'"*_]*to[\s`'"*_]*$/.test(text.slice(end, next.start)),
      isDone: CHECKED.test(text) || isStruck(text, start),
    })
    // "Finished spec-create, spec-design and spec-tasks": what was said of the first holds for the list.
    const isListed = LIST.test(before) && (!isFirst || (clause.isJoined && LIST_END.test(after)))
    const said = isListed && own === "named" ? (listed ?? own) : own
    // "spec-design -> spec-tasks" may be a move or a plan: neither of them is said to be the present one.
    const standing = said === "now" && !isCommand && ARROW_NEXT.test(text.slice(end)) ? "named" : said
    listed = standing
    mentions.push({ stage, isCommand, standing })
  }
  return mentions
}

const isStruck = (line: string, at: number): boolean => line.slice(0, at).split("~~").length % 2 === 0

/** A request that is only put as a question is still one. */
const isQuestion = (clause: string): boolean =>
  /\?\s*$/.test(clause) && !/^[\s>*-]*(?:please|can|could|would|will) you\b/i.test(clause)

const ARROW_NEXT = /^[\s`'"*_]*(?:->|→|=>)[\s`'"*_]*(?:spec|bug)-/
const LIST_END = /^[\s`'",;.&)*_]*(?:$|(?:and|or|nor)\b)/
const LIST = /^[\s`'"/,&*_]*(?:and|or|nor)?[\s`'"/*_]*$/

/** Of the mentions of one line, those that could be meant: the first of a sequence, else all that are not ruled out. */
export const candidates = (mentions: readonly StageMention[]): readonly StageMention[] => {
  // "/bug-fix, then /bug-verify", "run /bug-fix and /bug-verify": the first that is not done.
  const first = mentions.find(({ isCommand, standing }) => isCommand && OPEN.has(standing))
  if (first !== undefined) return [first]
  for (const standing of ["now", "named", "then"] as const) {
    const found = mentions.filter((mention) => mention.standing === standing)
    if (found.length > 0) return found
  }
  return []
}

const OPEN: ReadonlySet<Standing> = new Set(["now", "named", "then"])

const STAGES: readonly Stage[] = [...SPEC_STAGES, ...BUG_STAGES]

const STAGE_NAME =
  /(?<![\w-])(?:spec-(?:create|design|tasks|execute)|bug-(?:create|analyze|fix|verify))(?![\w-])/g

/** Three names in one line are a vocabulary, not a state. */
export const VOCABULARY = 3
const MAX_LENGTH = 1_000

interface Clause {
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
  /[.;!?](?=\s|$)|,(?=\s)|\s[—–-]{1,2}\s|\s?(?:->|→|=>)\s?|\s(?:and then|then|after that|afterwards|followed by)\s|\s(?:but|so|while|and now|now)\s/gi

const SEQUENCE = /then|after that|afterwards|followed by/i
const CONDITION = /^\s*(?:once|if|when|as soon as|until|unless|should)\b/i

const clausesOf = (line: string): readonly Clause[] => {
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
    link = SEQUENCE.test(match[0]) ? "then" : /->|→|=>/.test(match[0]) ? "arrow" : "other"
  }
  return [...clauses, { start, end: line.length, link, isJoined, isConditional }]
}

const CHECKED = /^\s*(?:\[[xX✓✔]\]|✅|☑|✔|✓)/u
