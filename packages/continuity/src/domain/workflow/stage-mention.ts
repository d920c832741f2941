/**
 * Stages that a line of a log names, read as a person reads it: is this what is to be done now, is it done, denied, still
 * to be approved, or something for later? A name inside another word (`debug-fixes`) is none, and three names in one line
 * are a vocabulary, not a state, unless the line says how each of them stands.
 *
 * One pass over short lines; every pattern is bounded by the clause it looks at.
 */
import { clauseAt, clausesOf } from "./stage-clauses.ts"
import { marksOf, type Name } from "./stage-marks.ts"
import { standingOf, type Standing } from "./stage-standing.ts"
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
  const names = namesIn(text)
  const mentions = withLists(text, names, standingsOf(text, names)).map(({ stage, isCommand, standing }) =>
    isCommand && standing === "named"
      ? { stage, isCommand, standing: "now" as const }
      : { stage, isCommand, standing },
  )
  return isVocabulary(text, mentions) ? [] : mentions
}

interface StageName extends Name {
  readonly stage: Stage
  readonly isCommand: boolean
}

const namesIn = (text: string): readonly StageName[] =>
  [...text.matchAll(STAGE_NAME)].flatMap(({ 0: name, index: start }) => {
    const stage = STAGES.find((each) => each === name)
    const isCommand = text[start - 1] === "/" && !/\w/.test(text[start - 2] ?? "")
    return stage === undefined ? [] : [{ stage, isCommand, start, end: start + name.length }]
  })

/** What is said of each name by the words and signs around it. */
const standingsOf = (text: string, names: readonly StageName[]): readonly Standing[] => {
  const clauses = clausesOf(text)
  const marks = marksOf(text, names)
  return names.map(({ start, end, isCommand }, place) => {
    const clause = clauseAt(clauses, start)
    const earlier = names[place - 1]
    const next = names[place + 1]
    const isFirst = earlier === undefined || earlier.start < clause.start
    const words = text.slice(isFirst ? clause.start : earlier.end, start)
    return standingOf({
      before: isFirst ? words : words.replace(OWN_STATUS, ""),
      after: text.slice(end, next === undefined ? clause.end : Math.min(next.start, clause.end)),
      isCommand,
      link: isFirst ? clause.link : "other",
      isOpen: clause.isConditional || isQuestion(text.slice(clause.start, clause.end)),
      isLeft: next !== undefined && /^[\s`'"*_]*to[\s`'"*_]*$/.test(text.slice(end, next.start)),
      mark: marks[place],
    })
  })
}

/** "spec-create=done spec-design", "spec-create | done | spec-design": said of the name before it. */
const OWN_STATUS =
  /^[`'"*_\s]*(?:[:=|]|\()\s*(?:done|finished|completed?|closed|ok|doing|in progress|active|wip|current|open|pending|todo|not started)\b\)?/i

interface Placed extends StageName {
  readonly standing: Standing
}

/**
 * What is said of one name of a list holds for the others: "finished spec-create, spec-design and spec-tasks",
 * "spec-create and spec-design are done". Of a list of what is to come only the first one is next.
 */
const withLists = (
  text: string,
  names: readonly StageName[],
  standings: readonly Standing[],
): readonly Placed[] => {
  const said: Standing[] = [...standings]
  const joined = names.map((name, place) => {
    const next = names[place + 1]
    return next !== undefined && LIST.test(text.slice(name.end, next.start))
  })
  for (const [place, { isCommand }] of names.entries()) {
    const before = said[place - 1] ?? "named"
    // "Not /bug-fix, /bug-verify": a command is an order of its own, unless all of them were done.
    if (joined[place - 1] !== true || said[place] !== "named" || (isCommand && before !== "done")) continue
    said[place] = before === "next" ? "then" : before
  }
  for (const place of [...names.keys()].toReversed()) {
    const after = said[place + 1] ?? "named"
    if (joined[place] !== true || said[place] !== "named" || !SPREADS_BACK.has(after)) continue
    if (names[place]?.isCommand === true && after !== "done") continue
    said[place] = after
    if (after === "next") said[place + 1] = "then"
  }
  return names.map((name, place) => {
    const standing = said[place] ?? "named"
    // "spec-design -> spec-tasks" may be a move or a plan: neither of them is said to be the present one.
    const isPath = standing === "now" && standings[place] === "now" && ARROW_NEXT.test(text.slice(name.end))
    return { ...name, standing: isPath && !name.isCommand ? "named" : standing }
  })
}

const SPREADS_BACK: ReadonlySet<Standing> = new Set<Standing>(["done", "not-yet", "next"])

/** A request that is only put as a question is still one. */
const isQuestion = (clause: string): boolean =>
  /\?\s*$/.test(clause) && !/^[\s>*-]*(?:please|can|could|would|will) you\b/i.test(clause)

const ARROW_NEXT = /^[\s`'"*_]*(?:->|→|=>|➜)[\s`'"*_/]*(?:spec|bug)-/
const LIST = /^[\s`'",&+*_]*(?:and|or|nor)?[\s`'"/*_]*$/

/**
 * Three names in one line are a list of what there is, not a state, unless the line says of exactly one that it is the
 * present one, or what each of them is.
 */
const isVocabulary = (text: string, mentions: readonly StageMention[]): boolean => {
  const stages = new Set(mentions.map(({ stage }) => stage))
  if (stages.size < VOCABULARY) return false
  const by = (...standings: readonly Standing[]): number =>
    new Set(mentions.filter(({ standing }) => standings.includes(standing)).map(({ stage }) => stage)).size
  if (by("done", "not-yet", "next", "then") === stages.size) return false
  // "Plan: /spec-design, /spec-tasks, /spec-execute" is an order; all four of them are the vocabulary.
  if (mentions.every(({ isCommand }) => isCommand) && stages.size === VOCABULARY) return false
  if (by("now") === stages.size || by("named") > 1) return true
  return by("now") !== 1 || DESCRIBES.test(text)
}

/** A sentence about the workflow itself: "it goes from spec-create to spec-design to spec-tasks". */
const DESCRIBES =
  /\bfrom\b.{1,60}\bto\b.{1,60}\bto\b|\b(?:workflow|process|sequence|order|stages are|commands are)\b/i

/** Of the mentions of one line, those that could be meant: the first of a sequence, else all that are not ruled out. */
export const candidates = (mentions: readonly StageMention[]): readonly StageMention[] => {
  // "/bug-fix, then /bug-verify", "run /bug-fix and /bug-verify": the first that is not done.
  const first = mentions.find(({ isCommand, standing }) => isCommand && OPEN.has(standing))
  if (first !== undefined) return [first]
  for (const standing of ["now", "next", "named", "then"] as const) {
    const found = mentions.filter((mention) => mention.standing === standing)
    if (found.length > 0) return found
  }
  return []
}

const OPEN: ReadonlySet<Standing> = new Set(["now", "next", "named", "then"])

const STAGES: readonly Stage[] = [...SPEC_STAGES, ...BUG_STAGES]

const STAGE_NAME =
  /(?<![\w-])(?:spec-(?:create|design|tasks|execute)|bug-(?:create|analyze|fix|verify))(?![\w-])/g

/** Three names in one line are a vocabulary, not a state. */
export const VOCABULARY = 3
const MAX_LENGTH = 1_000
