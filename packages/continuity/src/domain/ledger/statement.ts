/**
 * Statements worth keeping, in what people and agents say: labelled ("Decision: keep SQLite"), or in plain words ("never
 * touch the billing tables", "we decided to keep SQLite"). Questions, assumptions and stories about the past do not count.
 */
import { speaksOfBlock } from "../session/absence.ts"
import { sentencesOf } from "./sentence.ts"

export type StatementKind =
  | "constraint"
  | "decision"
  | "blocker"
  | "rule"
  | "objective"
  | "stage"
  | "next-action"

export type Heard =
  | { readonly tag: "stated"; readonly kind: StatementKind; readonly text: string }
  /** Withdraws a statement. Without a kind it may withdraw any. */
  | { readonly tag: "withdrawn"; readonly kind?: StatementKind; readonly text: string }

export type Speaker = "user" | "agent"

export const hearText = (text: string, speaker: Speaker): readonly Heard[] =>
  sentencesOf(text).flatMap((sentence) => {
    const heard = hearLabel(sentence, speaker) ?? hearWords(sentence, speaker)
    return heard === undefined ? [] : [heard]
  })

const KINDS: Readonly<Record<string, StatementKind>> = {
  objective: "objective",
  goal: "objective",
  decision: "decision",
  decided: "decision",
  blocker: "blocker",
  rule: "rule",
  constraint: "constraint",
  requirement: "constraint",
  stage: "stage",
  "next action": "next-action",
  "next step": "next-action",
  next: "next-action",
}

const LABEL =
  "objective|goal|decision|decided|blocker|rule|constraint|requirement|stage|next action|next step|next"
const ENDED = "cancelled|canceled|withdrawn|superseded|resolved|reverted|dropped|obsolete"

/** `**Decision (cancelled)**: keep the old export`, `Cancelled decision: …`. */
const DECLARED = new RegExp(
  `^[*_]{0,2}(?:(${ENDED})\\s+)?(${LABEL})(?:\\s*\\((${ENDED})\\))?[*_]{0,2}\\s*[:：][*_]{0,2}\\s*(\\S.{0,550})$`,
  "i",
)

const hearLabel = (sentence: string, speaker: Speaker): Heard | undefined => {
  const [, before, label = "", after, words] = DECLARED.exec(sentence) ?? []
  const kind = KINDS[label.toLowerCase()]
  if (kind === undefined || words === undefined) return undefined
  const own = kind === "rule" && speaker === "user" ? "constraint" : kind
  return { tag: before === undefined && after === undefined ? "stated" : "withdrawn", kind: own, text: words }
}

const hearWords = (sentence: string, speaker: Speaker): Heard | undefined => {
  if (isQuestion(sentence)) return undefined
  if (speaker === "user" && isWithdrawal(sentence)) return { tag: "withdrawn", text: sentence }
  if (speaker === "user" && PERMITTED.test(sentence))
    return { tag: "withdrawn", kind: "constraint", text: sentence }
  if (isUnblocking(sentence)) return { tag: "withdrawn", kind: "blocker", text: sentence }
  if (isBlocked(sentence)) return { tag: "stated", kind: "blocker", text: sentence }
  if (isDecision(sentence)) return { tag: "stated", kind: "decision", text: sentence }
  if (speaker !== "user") return undefined
  if (OBJECTIVE.test(sentence)) return { tag: "stated", kind: "objective", text: sentence }
  return isConstraint(sentence) ? { tag: "stated", kind: "constraint", text: sentence } : undefined
}

/** A request phrased as a question is still a request. */
const isQuestion = (sentence: string): boolean =>
  /\?["')]*$/.test(sentence) && !/^(?:can|could|would|will) you\b/i.test(sentence)

const OBJECTIVE = /\b(?:the|our|my) (?:end |main |overall )?(?:goal|objective|aim)\b[^.]{0,40}? is\b/i

const isDecision = (sentence: string): boolean => DECIDED.test(sentence) && !UNDECIDED.test(sentence)

const DECIDED =
  /\b(?:we|i|you|they)(?:'ve| have|'ll| will|'m| am|'re| are)?(?: now| finally| just)? (?:decided?|cho(?:se|sen)|agreed?|settled? on|opted? for|go(?:ing)? with|went with)\b|\bwe(?:'ll| will| are going to|'re going to) use\b|\blet's (?:go with|use|keep|take|stick with)\b|\bdecision (?:is|was|made)\b|^(?:decided|agreed|going with)\b/i

const UNDECIDED =
  /\b(?:undecided|not (?:yet )?decided?|have(?:n't| not) decided?|to be decided|decide (?:whether|if|later)|before (?:we|i) decide|should (?:we|i)|if (?:we|i|you)|once (?:we|i|you)|until (?:we|i|you))\b/i

const isBlocked = (sentence: string): boolean =>
  /\bblocked (?:by|on|until|because|waiting)\b/i.test(sentence) && speaksOfBlock(sentence)

const isUnblocking = (sentence: string): boolean =>
  /\b(?:unblocked|no longer blocked|not blocked any ?more|blockers? (?:is |are |was |were )?(?:now )?(?:resolved|gone|cleared|fixed|lifted))\b/i.test(
    sentence,
  )

const LEAD =
  "(?:(?:please|and|but|also|so|then|ok|okay|no|wait|actually|sorry|right|well|now|again|note|important|remember|reminder)[,:]?\\s+)*"

const isWithdrawal = (sentence: string): boolean => FORGET.test(sentence) || ENDS.test(sentence)

const FORGET = new RegExp(
  `^${LEAD}(?:forget|scrap|cancel|never ?mind|ignore|withdraw|(?:drop|skip|undo|discard|abandon) (?:the |that |this |my )?(?:.{0,60}\\b)?(?:decision|rule|idea|plan|constraint|requirement|item|todo|task|approach|request|goal|step|change))\\b`,
  "i",
)

/** "You can push to main now": something forbidden is allowed from here on. */
const PERMITTED = new RegExp(
  `^${LEAD}(?:(?:you|we) (?:can|may|are allowed to|are free to)\\b.{0,200}\\b(?:now|again|after all|from now on)\\b|(?:you|we) (?:can|may|are) now\\b|it(?:'s| is) (?:ok|okay|fine|allowed) (?:now )?to\\b)`,
  "i",
)

const ENDS =
  /\b(?:no longer (?:holds?|appl(?:y|ies)|needed|necessary|valid|true|relevant|wanted)|(?:is|are|was|were|has been|have been) (?:cancelled|canceled|obsolete|off the table|withdrawn|superseded|void)|does(?:n't| not) (?:hold|apply) any ?more)\b/i

const isConstraint = (sentence: string): boolean =>
  (ORDER.test(sentence) || INSIDE.test(sentence) || VALUE.test(sentence)) && !NO_ORDER.test(sentence)

/** An order at the beginning of a sentence or of one of its clauses. */
const ORDER = new RegExp(
  `(?:^${LEAD}|^from now on,? |[,;:—–] |\\b(?:and|but|please|you|we|so|then|just|also|you to|you will|you must) )(?:never|always|do not|don't|dont|avoid|only|make sure|be sure|ensure|stick to|stay (?:on|with|away|in|within|out)|refrain|prefer|no (?:new|more|other|further)\\b|keep (?!(?:going|on|up|at it)\\b)|leave .{1,80}(?:alone|untouched|unchanged|as)\\b|use |(?:limit|cap|restrict) |write (?:everything|all|every)\\b|make (?:all |the |your |every )?(?:commits?|changes|diffs?|functions|files|pull requests?) |not (?:touch|change|modify|edit|delete|remove|use|add|break|rename|push|commit|deploy)\\b)`,
  "i",
)

const INSIDE =
  /\b(?:must(?:n't)?|should(?:n't| not| never| always| only| stay| remain)|may not|not allowed|forbidden|off[- ]limits|hands off|at most|no more than|under no circumstances|no matter what|mandatory|(?:needs?|has|have) to (?:stay|be|remain)|without (?:touching|changing|breaking|adding|using)|i(?:'d| would) rather|(?:ask|check with) (?:me|us) (?:before|first)|i (?:don't|do not) want|want (?:no|only)|from now on|for the rest of (?:this|the))\b|^no [\p{L}-]+(?: [\p{L}-]+){0,6}[.!]?$/iu

/** `The release branch is rel-7.` */
const VALUE =
  /^(?:the|our|my)\s(?:[\p{L}\p{N}_-]+\s){1,6}(?:is|are|will be)\s(?:now\s|called\s|named\s)?(?:`[^`]+`|"[^"]+"|\S*\d\S*)|^(?:the|our|my)\s(?:[\p{L}\p{N}_-]+\s){0,3}(?:deadline|branch|port|version|name|region|environment|database|language|target|budget|style|format|owner)\s(?:is|are|will be)\s(?!yes\b|no\b|not\b|\w+ing\b|broken|wrong|gone|empty|missing)\S/iu

/** About oneself, the past, or one's own confusion. */
const NO_ORDER =
  /\b(?:don't|do not) (?:know|think|worry|understand|care|mind|see|believe|remember|get|bother)\b|\byou (?:don't|do not) (?:need|have) to\b|\bwe (?:don't|do not) (?:have|need)\b|\b(?:must|should) have\b|\bif you must\b/i
