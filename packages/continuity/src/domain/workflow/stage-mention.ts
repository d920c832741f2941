/**
 * Stages that a log line names, read as a person would: is it to be done now, done, denied, awaiting approval, or for
 * later? A name inside another word (`debug-fixes`) does not count. Three names in one line are a list, not a state, unless
 * the line says how each of them stands.
 *
 * One pass over short lines; every pattern is bounded by its clause.
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

/** What the surrounding words and marks say about each name. */
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

/** "spec-create=done spec-design", "spec-create | done | spec-design": a status of the name before it. */
const OWN_STATUS =
  /^[`'"*_\s]*(?:[:=|]|\()\s*(?:done|finished|completed?|closed|ok|doing|in progress|active|wip|current|open|pending|todo|not started)\b\)?/i

interface Placed extends StageName {
  readonly standing: Standing
}

/**
 * What is said about one name of a list applies to the others: "finished spec-create, spec-design and spec-tasks",
 * "spec-create and spec-design are done". In a list of future stages only the first is next.
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
    // "Not /bug-fix, /bug-verify": a command is a separate order, unless all of them were done.
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
    // "spec-design -> spec-tasks" may be a move or a plan, so neither counts as current.
    const isPath = standing === "now" && standings[place] === "now" && ARROW_NEXT.test(text.slice(name.end))
    return { ...name, standing: isPath && !name.isCommand ? "named" : standing }
  })
}

const SPREADS_BACK: ReadonlySet<Standing> = new Set<Standing>(["done", "not-yet", "next"])

/** A request phrased as a question is still a request. */
const isQuestion = (clause: string): boolean =>
  /\?\s*$/.test(clause) && !/^[\s>*-]*(?:please|can|could|would|will) you\b/i.test(clause)

const ARROW_NEXT = /^[\s`'"*_]*(?:->|→|=>|➜)[\s`'"*_/]*(?:spec|bug)-/
const LIST = /^[\s`'",&+*_]*(?:and|or|nor)?[\s`'"/*_]*$/

/**
 * Three names in one line are a list, not a state, unless the line marks exactly one as current or gives the state of each.
 */
const isVocabulary = (text: string, mentions: readonly StageMention[]): boolean => {
  const stages = new Set(mentions.map(({ stage }) => stage))
  if (stages.size < VOCABULARY) return false
  const by = (...standings: readonly Standing[]): number =>
    new Set(mentions.filter(({ standing }) => standings.includes(standing)).map(({ stage }) => stage)).size
  if (by("done", "not-yet", "next", "then") === stages.size) return false
  // "Plan: /spec-design, /spec-tasks, /spec-execute" is an order; all four are just the list.
  if (mentions.every(({ isCommand }) => isCommand) && stages.size === VOCABULARY) return false
  if (by("now") === stages.size || by("named") > 1) return true
  return by("now") !== 1 || DESCRIBES.test(text)
}

/** A sentence about the workflow itself: "it goes from spec-create to spec-design to spec-tasks". */
const DESCRIBES =
  /\bfrom\b.{1,60}\bto\b.{1,60}\bto\b|\b(?:workflow|process|sequence|order|stages are|commands are)\b/i

/** The mentions of one line that could be meant: the first of a sequence, otherwise all that are not ruled out. */
export const candidates = (mentions: readonly StageMention[]): readonly StageMention[] => {
  // "/bug-fix, then /bug-verify", "run /bug-fix and /bug-verify": the first one that is not done.
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

/** Three names in one line are a list, not a state. */
export const VOCABULARY = 3
const MAX_LENGTH = 1_000
