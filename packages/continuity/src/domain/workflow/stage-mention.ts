/**
 * Names of stages in prose. A mention counts when it says where the work is: not inside another word (`debug-fixes`),
 * not in a list of the whole vocabulary, not as something that comes later ("then ask for approval to enter bug-verify").
 */
import { approvalOf } from "../session/approval.ts"
import { BUG_STAGES, SPEC_STAGES, type Stage } from "./stage.ts"

const STAGES: readonly Stage[] = [...SPEC_STAGES, ...BUG_STAGES]

const STAGE_NAME =
  /(?<![\w-])(?:spec-(?:create|design|tasks|execute)|bug-(?:create|analyze|fix|verify))(?![\w-])/g

/** Three names in one line are a vocabulary, not a state. */
const VOCABULARY = 3

/** Stages that a line says the work is in, in the order of the line. */
export const mentionedStages = (line: string): readonly Stage[] => {
  if (!line.includes("spec-") && !line.includes("bug-")) return []
  const found = [...line.matchAll(STAGE_NAME)].flatMap(({ 0: name, index }) => {
    const stage = STAGES.find((each) => each === name)
    return stage === undefined ? [] : [{ stage, index }]
  })
  if (new Set(found.map(({ stage }) => stage)).size >= VOCABULARY) return []
  const ahead = approvalOf(line) === "given" ? AHEAD : AHEAD_OR_AWAITED
  return found.filter(({ index }) => !ahead.test(clauseBefore(line, index))).map(({ stage }) => stage)
}

/** The words before the name, in the same clause. */
const clauseBefore = (line: string, index: number): string => {
  const before = line.slice(Math.max(0, index - 60), index)
  return before.slice(Math.max(before.lastIndexOf(". "), before.lastIndexOf("; ")) + 1)
}

/** Words that put what follows into the future, behind us, or deny it. */
const AHEAD =
  /\b(?:before|until|then|not|never|without|later|eventually|afterwards|hand-?off (?:to|for)|proceed to|move to|go to|enter|ready for|next (?:stage|phase|is|up)|leave|after|finished|completed)\b[^.;]*$/i

const AHEAD_OR_AWAITED = new RegExp(
  `${AHEAD.source}|\\b(?:approval (?:to|for|of)|ask(?: for)?|request|prepare)\\b[^.;]*$`,
  "i",
)
