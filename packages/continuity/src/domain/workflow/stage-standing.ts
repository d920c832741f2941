/**
 * The state of a stage in the clause that names it, from the words around it. The cues are English as people write it in
 * logs; `test/fixture/stage-lines.ts` holds the lines they were made for. In doubt the stage does not count: a missing
 * stage costs less than a wrong one.
 */
export type Standing =
  /** To be done now: ordered, begun, or called current. */
  | "now"
  /** Comes after the current one. */
  | "next"
  /** Only named. */
  | "named"
  /** Comes after something else in this line. */
  | "then"
  /** Denied, postponed, conditional, or awaiting an approval. */
  | "not-yet"
  | "done"

/** How a clause is joined to the previous one. */
export type Link = "then" | "arrow" | "other"

export interface Surroundings {
  /** The words of its clause before and after it, up to the next name. */
  readonly before: string
  readonly after: string
  readonly isCommand: boolean
  readonly link: Link
  /** Part of a question or a condition. */
  readonly isOpen: boolean
  /** "bug-fix to bug-verify": the work goes to the other one. */
  readonly isLeft: boolean
  /** Given by a box, a mark or a strikethrough, which outweighs the words around it. */
  readonly mark: Standing | undefined
}

/** The first matching check decides. In doubt the stage does not count. */
export const standingOf = (said: Surroundings): Standing => {
  const { after, isCommand, link } = said
  const before = said.before.replace(POLITE, "")
  if (said.mark !== undefined) return said.mark
  if (UNFINISHED_BEFORE.test(before) || UNFINISHED_AFTER.test(after)) return "now"
  // To leave a stage, or to ask what it takes to leave, one must still be in it.
  if (/\bleav(?:e|ing)\s+[`'"*_/]*$/i.test(before)) return "now"
  if (DENIED_BEFORE.test(before) || DENIED_AFTER.test(after)) return "not-yet"
  if (STAYS.test(before)) return "now"
  const approval = approvalOf(before, after)
  if (approval !== undefined) return approval
  if (DONE_AFTER.test(after) || said.isLeft || /^[\s([]*was\s+$/i.test(before)) return "done"
  if (GOING_ON.test(after) || CONTINUED_BEFORE.test(before) || CONTINUED_AFTER.test(after)) return "now"
  // Text before a colon is a label, whatever its words: "where we left off: /spec-execute".
  const label = labelOf(before)
  if (label === "done" || label === "next") return label
  const isPresent = /\b(?:now|today|currently)\b/i.test(before)
  if (!isPresent && (said.isOpen || LATER_BEFORE.test(before) || LATER_AFTER.test(after))) return "not-yet"
  if (label !== undefined) return label
  const cue = lastOf(before, [
    ["done", DONE_BEFORE],
    ["next", NEXT_BEFORE],
    ["now", NOW_BEFORE],
    ["then", THEN_BEFORE],
  ])
  if (cue === "done" || cue === "next") return cue
  if (NEXT_AFTER.test(after)) return "next"
  if (cue === undefined && !isCommand && /^\s*(?:only )?after\b/i.test(after)) return "not-yet"
  if (link === "then" || (link === "arrow" && isCommand) || cue === "then" || THEN_AFTER.test(after))
    return "then"
  return cue === "now" || NOW_AFTER.test(after) ? "now" : "named"
}

/** "Done: ", "doing=", "Next stage: [": the label applies to the names after it. Any other label means now. */
const labelOf = (before: string): Standing | undefined => {
  const label = /(?:^|[\s([|/])([^:>=|]{0,40})[:>=]\s*[`'"*_/([]*$/.exec(before)?.[1]
  if (label === undefined) return undefined
  if (DONE_LABEL.test(label)) return "done"
  return NEXT_LABEL.test(label) ? "next" : "now"
}

/** Awaited or given; undefined when no approval is mentioned. */
const approvalOf = (before: string, after: string): Standing | undefined => {
  const whole = `${before} X ${after}`
  if (GRANTED.test(whole)) return "named"
  if (AWAITED_BEFORE.test(before) || AWAITED_AFTER.test(after)) return "not-yet"
  if (GIVEN_AFTER.test(after) && /\b(?:after|once|when|if|until|unless|before)\b/i.test(before))
    return "not-yet"
  // Permission to begin says less than having begun.
  if (GIVEN_BEFORE.test(before) || GIVEN_AFTER.test(after)) return "named"
  return APPROVAL_OF.test(before) ? "not-yet" : undefined
}

/** The cue that ends nearest before the name. If two end together, the one listed first. */
const lastOf = (
  before: string,
  cues: readonly (readonly [standing: Standing, pattern: RegExp])[],
): Standing | undefined => {
  let nearest: Standing | undefined
  let at = -1
  for (const [standing, pattern] of cues)
    for (const { 0: words, index } of before.matchAll(pattern))
      if (index + words.length > at) {
        at = index + words.length
        nearest = standing
      }
  return nearest
}

const UNFINISHED_BEFORE =
  /(?:\bnot|n't|\bnever)(?: yet| quite| really)? (?:done|finished|complete|through|over)(?: with)?\b|\b(?:unfinished|half[- ]done|incomplete)\b/i
const UNFINISHED_AFTER =
  /^[^,;]{0,20}\b(?:almost|nearly|mostly) (?:done|finished|complete)|^[^,;.]{0,12}\b(?!100)\d{1,2}\s?% (?:done|finished|complete)|^[^,;]{0,30}(?:\bnot|\bnever|n't)(?: yet| quite| really)? (?:done|finished|completed?|through|over|closed)\b|^[^,;]{0,20}\b(?:unfinished|half[- ]done|incomplete|half way|halfway)\b/i

const DENIED_BEFORE =
  /\b(?:not|never|no longer|(?:was|were) (?:going|about) to|(?:had )?(?:planned|meant|intended|hoped) to|don't|dont|do not|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|can't|cannot|shouldn't|mustn't|without|no(?=\s*[`'"*/]*$)|nor|neither|skip(?:ped|ping)?|ignor(?:e|ed|ing)|avoid(?:ed|ing)?|instead of|rather than|hold(?:s|ing)? off(?: on)?|postpon(?:e|ed|ing)|defer(?:red|ring)?|abandon(?:ed)?|abort(?:ed)?|wait with|refus(?:e|ed)|reject(?:ed)?|declin(?:e|ed)|too (?:early|soon) (?:for|to)|cancel(?:led|ed)?|nobody|no one)\b|\b(?:hold(?:s|ing)?|stop(?:s|ped|ping)?|paus(?:e|es|ed|ing)|park(?:ed)?)\s+[`'"*_/]*$/i
const DENIED_AFTER =
  /^[`'"*_)\s]*(?:is |was |has |are |can |must |should |will )?(?:not (?:be |been )?(?:yet|started|begun|now|approved|allowed|ready|open|run|due|possible|needed|necessary)|hasn't (?:been )?(?:started|begun|run)|not (?:yet )?(?:started|begun)|on hold|off the table|cancelled|skipped|aborted|abandoned|postponed|deferred|paused|parked|can wait|waits|has to wait|must wait|out of scope|forbidden|failed|(?:started|entered|run|begun) (?:too early|by mistake))\b|^[`'"*_)\s]*(?:can't|cannot|can not|must not|mustn't|may not|shouldn't|should not) (?:be|start|begin|run|go)\b|^[^,;.]{0,30}\b(?:was|were|got) skipped\b|^[`'"*_)\s]*(?:won't|will not|isn't needed|is no longer|no longer)\b/i

const APPROVAL = "(?:approv\\w+|sign-?off|go-?ahead|permission|green light|confirmation|review)"

const AWAITED_BEFORE = new RegExp(
  `\\b(?:await\\w*|wait\\w* (?:for|on)|pending|need\\w*|requir\\w*|request\\w*|ask\\w*(?: for)?|get|obtain|seek\\w*|until|unless|without|before|want\\w*)\\b[^.;]{0,60}\\b${APPROVAL}\\b[^.;]{0,40}$|\\bask\\w*\\b[^.;]{0,50}\\b(?:whether|if|to)\\b[^.;]{0,40}$|\\b${APPROVAL}\\b[^.;]{0,20}\\b(?:needed|required|pending|outstanding|missing|awaited)\\b[^.;]{0,20}$`,
  "i",
)
const AWAITED_AFTER = new RegExp(
  `^[\`'"*_)\\s]*(?:still )?(?:is |are |has )?(?:needs?|awaits?|awaiting|requires?|pending|without|waits? for|waiting for|to be|subject to|once)(?: an?| the| your| explicit| final| user)*[^.;]{0,20}\\b${APPROVAL}\\b|^[\`'"*_)\\s]*(?:is )?(?:pending|awaited)\\b`,
  "i",
)
/** An approval that is only mentioned has not been given. */
const APPROVAL_OF = new RegExp(
  `\\b(?:approval|sign-?off|go-?ahead|permission|green light) (?:to|for|of|on)\\b[^.;]{0,40}$`,
  "i",
)

/** Says that an approval was given. */
const GRANTED =
  /\b(?:approvals?|sign-?off|go-?ahead|permission|green light)\b[^.;]{0,60}\b(?:given|granted|received|recorded|came|there)\b|\b(?:given|granted|received|got|have|has|with)\b(?! to\b)[^.;]{0,30}\b(?:approval|sign-?off|go-?ahead|permission|green light)\b/i
const GIVEN_BEFORE =
  /\b(?:approved|cleared|unblocked|greenlit|signed off)\b(?: for| to(?: enter| start| run| begin)?| on)?[\s`'"/*_:]*$/i
const GIVEN_AFTER =
  /^[`'"*_)\s]*(?:is |was |has been |got |now )*(?:approved|cleared|greenlit|unblocked|signed off|granted|given|allowed)\b/i

/** Follows within a few words: `/spec-tasks search: done`, `bug-create (done)`, `spec-design is finally over`. */
const DONE_AFTER =
  /^(?![^,;.]{0,30}\b(?:be|being|almost|nearly|to|until|when|not|never|half|first|task|tests?|checks?|batch|\d+ of \d+)\b)(?![^,;.]{0,12}\b\d{1,2}\s?%)(?:[^,;.:=]{0,30}?|[^,;.:=]{0,40}[:=]\s*(?:all |now |fully |is )?)\b(?:done|finished|completed?|written and approved|closed|(?:is|are|was|finally|now) over|behind us|merged|passed|ended|wrapped(?: up)?|through|shipped|ok(?:ay)?|ran (?:clean|fine|ok|okay|through)|succeeded)(?![\w-]|\s*[:=])|^[`'"*_)\s]*(?:[\w.-]{1,40} )?[✓✔✅☑]|^[^,;.]{0,20}\b(?:i|we) ran\b|^[^,;.]{0,12}\b100\s?%|^[^,;.]{0,20}\bha(?:s|ve) been (?:run|executed|done)\b/iu
const DONE_BEFORE =
  /\b(?:(?:after|having|by) \w+ing|having \w+ed|finished|completed|done(?: with)?|wrapped up|closed|through with|left|past|ran|(?:have|has|had)(?: just| already)? (?:run|used|called)|formerly|tried|attempted|executed|ended|concluded|did|after|since|following|from|coming out of|out of|moved on from|prev|previous|previously(?: in)?|was in|were in|had been in|used to be in|earlier|yesterday|last (?:week|session|time|entry))\b/gi

const LATER_BEFORE =
  /\b(?:before|until(?! then)|till|once|when|as soon as|if|unless|later|(?:the )?user will|wait\w* for [^.;]{1,40} to|want(?:s|ed)? to (?:get|be|reach|arrive)|eventually|subsequently|tomorrow|someday|hand-?off (?:to|for)|handing off to|prepar(?:e|ing|ation)(?: for| the)?|prep for|leads? to|leading to|on the way to|plan(?:ned|ning)? (?:for|to)|next (?:stage|phase) (?:is|will be|would be)|(?:will|should) (?:be|need|follow|come)|would|might|may|could|maybe|perhaps|probably|wanted to (?:jump|go|move|skip|start|run)(?: to| into)?|tempted to|path to|gate (?:to|for|of)|precondition (?:of|for)|requirement for)\b/i
const LATER_AFTER =
  /^[`'"*_)\s]*(?:[\w.-]{1,40} )?(?:comes? later|only (?:after|when|once|if)|later|afterwards|to come|to follow|at the end|tomorrow|next week|once(?! (?:more|again))|when|as soon as|can come|will (?:follow|come|be|need)|would|may|might|before we)\b/i

const NOW_BEFORE =
  /\b(?:in|into|first|to|now|currently|today|working|work|continu(?:e|es|ed|ing)|resum(?:e|es|ed|ing)|start(?:s|ed|ing)?|begin(?:s|ning)?|began|enter(?:s|ed|ing)?|proceed(?:s|ed|ing)?|mov(?:e|es|ed|ing)|go(?:es|ing)?|went|back|run(?:s|ning)?|do(?:ing)?|kick(?:ed)? off|use|using|carry on|pick(?:ed)? up|picks up|stage|phase|mode|still|at|under|todo|to do|(?:task|batch|part|half|step|item|rest)s? (?:\S{1,20} )?of|finish(?:ing)?|complet(?:e|ing)|leave|leaving|switch(?:ed)?|advanced?|reached|reopened|reopen|redo|repeat|try|launch|invoke|call(?:ed)?|trigger|time for|ready for|on|onto|opened|wip)\b/gi
const NOW_AFTER =
  /^[`'"*_)(:=|→>\s-]*(?:[\w.-]{1,40} )?(?:is |are |was )?(?:now|doing|running|active|current(?:ly)?|continues|started|begun|began|entered|goes on|is on|wip|drafted|again|today|next\b|open|first|it is|begins|starts|has priority|in (?:work|review))\b|^[`'"*_)(:\s]*\d{1,2}\s?%|^[`'"*_)\s]*(?:stage|phase|mode)\b/i
const STAYS =
  /\b(?:stay(?:ing)?|remain(?:ing)?|keep(?:ing)?(?: \w+ing)?|still) (?:in|on|with|at)(?: the)?\s+[`'"*_/]*$/i
/** "Continue X tomorrow": the work is already in that stage. */
const CONTINUED_BEFORE =
  /\b(?:continu(?:e|es|ed|ing)|resum(?:e|es|ed|ing)|carry on|go on)(?: with| in)?(?: the)?\s+[`'"*_/]*$/i
const CONTINUED_AFTER =
  /^[`'"*_)\s]*(?:continues|resumes|goes on)\b(?![^.;]{0,20}\b(?:when|once|if|after|as soon)\b)/i
/** A request phrased as a question is still a request. */
const POLITE = /^[\s>*-]*(?:please|can|could|would|will) you\b/i
const NEXT_BEFORE = /\b(?:next(?! (?:session|operator|week|time|agent)))\b/gi
const GOING_ON = /\b(?:still (?:going|running|open|on)|in progress|ongoing|under ?way)\b/i
const DONE_LABEL =
  /(?:\b(?:done|finished|completed?|closed|ran|passed|yesterday|prev(?:ious(?:ly)?)?(?: (?:stage|phase))?|was|before|earlier|behind us|last(?: (?:stage|phase))?)(?: so far| stages?| steps?)?|\bso far)[\s`'"*_]*$/i
const NEXT_LABEL =
  /(?:\b(?:next(?: (?:stage|phase))?|up next|to ?do|remaining|left|later|upcoming|tomorrow|pending|queued?|backlog|open))[\s`'"*_]*$/i
const NEXT_AFTER =
  /^[`'"*_)(:=|\s]*(?:todo|to do|queued|upcoming)\b|^[`'"*_)\s]*(?:is|are)? ?(?:left|missing|outstanding|remaining|still to do)\b|^[`'"*_)\s]*remains?\b/i
const THEN_BEFORE = /\b(?:then|afterwards|after that|followed by)\b/gi
const THEN_AFTER = /^[`'"*_)\s]*(?:[\w.-]{1,40} )?(?:is next|comes? next|follows)\b/i
