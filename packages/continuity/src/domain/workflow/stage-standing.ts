/**
 * How a stage stands in the clause that names it, by the words around it. The cues are English as people write it into
 * logs; `test/fixture/stage-lines.ts` holds what they were made for. A doubt goes against the stage: a stage that is not
 * pinned costs less than a wrong one.
 */
export type Standing =
  /** To be done now: ordered, begun, or said to be the present one. */
  | "now"
  /** Named, and nothing more is said of it. */
  | "named"
  /** Comes after something else of this line. */
  | "then"
  /** Denied, put off, conditional, or waiting for somebody's approval. */
  | "not-yet"
  | "done"

/** How a clause is joined to the one before it. */
export type Link = "then" | "arrow" | "other"

export interface Surroundings {
  /** Words of its clause before and after it, up to the next name. */
  readonly before: string
  readonly after: string
  readonly isCommand: boolean
  readonly link: Link
  /** A question, or said under a condition. */
  readonly isOpen: boolean
  /** "bug-fix to bug-verify": the other one is where the work goes. */
  readonly isLeft: boolean
  /** Ticked off, or struck out. */
  readonly isDone: boolean
}

/** The first question that is answered decides; a doubt goes against the stage. */
export const standingOf = (said: Surroundings): Standing => {
  const { before, after, isCommand, link } = said
  if (said.isDone) return "done"
  if (UNFINISHED_BEFORE.test(before) || UNFINISHED_AFTER.test(after)) return "now"
  // Whoever is about to leave a stage, or is asked what it takes, is still there.
  if (/\bleav(?:e|ing)\s+[`'"*_/]*$/i.test(before)) return "now"
  if (DENIED_BEFORE.test(before) || DENIED_AFTER.test(after)) return "not-yet"
  const approval = approvalOf(before, after)
  if (approval !== undefined) return approval
  if (DONE_AFTER.test(after) || said.isLeft) return "done"
  if (GOING_ON.test(after)) return "now"
  const isPresent = /\b(?:now|today|currently)\b/i.test(before)
  if (!isPresent && (said.isOpen || LATER_BEFORE.test(before) || LATER_AFTER.test(after))) return "not-yet"
  // What stands before a colon is a label, whatever its words are: "where we left off: /spec-execute".
  if (/[:>=]\s*[`'"*_/]*$/.test(before)) return DONE_LABEL.test(before) ? "done" : "now"
  const cue = lastOf(before, [
    ["done", DONE_BEFORE],
    ["now", NOW_BEFORE],
    ["then", THEN_BEFORE],
  ])
  if (cue === "done") return "done"
  if (cue === undefined && !isCommand && /^\s*(?:only )?after\b/i.test(after)) return "not-yet"
  if (link === "then" || (link === "arrow" && isCommand) || cue === "then" || THEN_AFTER.test(after))
    return "then"
  return cue === "now" || isCommand || NOW_AFTER.test(after) ? "now" : "named"
}

/** Waited for, or given; undefined when nobody speaks of it. */
const approvalOf = (before: string, after: string): Standing | undefined => {
  const whole = `${before} X ${after}`
  if (GRANTED.test(whole)) return "named"
  if (AWAITED_BEFORE.test(before) || AWAITED_AFTER.test(after)) return "not-yet"
  if (GIVEN_AFTER.test(after) && /\b(?:after|once|when|if|until|unless|before)\b/i.test(before))
    return "not-yet"
  // That it may begin says less than that it has begun.
  if (GIVEN_BEFORE.test(before) || GIVEN_AFTER.test(after)) return "named"
  return APPROVAL_OF.test(before) ? "not-yet" : undefined
}

/** Whichever of these ends nearest before the name; of two that end together, the one named first here. */
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
  /^[^,;]{0,20}\b(?:almost|nearly|mostly) (?:done|finished|complete)|^[^,;.]{0,12}\b(?!100)\d{1,2}\s?% (?:done|finished|complete)|^[^,;]{0,30}(?:\bnot|n't)(?: yet| quite| really)? (?:done|finished|completed?|through|over|closed)\b|^[^,;]{0,20}\b(?:unfinished|half[- ]done|incomplete|half way|halfway)\b/i

const DENIED_BEFORE =
  /\b(?:not|never|no longer|(?:was|were) (?:going|about) to|(?:had )?(?:planned|meant|intended|hoped) to|don't|dont|do not|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|can't|cannot|shouldn't|mustn't|without|no(?=\s*[`'"*/]*$)|nor|neither|skip(?:ped|ping)?|ignor(?:e|ed|ing)|avoid(?:ed|ing)?|instead of|rather than|hold(?:s|ing)? off(?: on)?|postpon(?:e|ed|ing)|defer(?:red|ring)?|abandon(?:ed)?|refus(?:e|ed)|reject(?:ed)?|declin(?:e|ed)|too (?:early|soon) (?:for|to)|cancel(?:led|ed)?|nobody|no one)\b|\b(?:hold(?:s|ing)?|stop(?:s|ped|ping)?|paus(?:e|es|ed|ing)|park(?:ed)?)\s+[`'"*_/]*$/i
const DENIED_AFTER =
  /^[`'"*_)\s]*(?:is |was |has |are |can |must |should |will )?(?:not (?:be )?(?:yet|started|begun|now|approved|allowed|ready|open|run|due|possible|needed|necessary)|hasn't (?:been )?(?:started|begun|run)|not (?:yet )?(?:started|begun)|on hold|off the table|cancelled|postponed|deferred|paused|parked|can wait|waits|has to wait|must wait|out of scope|forbidden|failed|(?:started|entered|run|begun) (?:too early|by mistake))\b|^[`'"*_)\s]*(?:won't|will not|isn't needed|is no longer|no longer)\b/i

const APPROVAL = "(?:approv\\w+|sign-?off|go-?ahead|permission|green light|confirmation|review)"

const AWAITED_BEFORE = new RegExp(
  `\\b(?:await\\w*|wait\\w* (?:for|on)|pending|need\\w*|requir\\w*|request\\w*|ask\\w*(?: for)?|get|obtain|seek\\w*|until|unless|without|before|want\\w*)\\b[^.;]{0,60}\\b${APPROVAL}\\b[^.;]{0,40}$|\\bask\\w*\\b[^.;]{0,50}\\b(?:whether|if|to)\\b[^.;]{0,40}$`,
  "i",
)
const AWAITED_AFTER = new RegExp(
  `^[\`'"*_)\\s]*(?:still )?(?:is |are |has )?(?:needs?|awaits?|awaiting|requires?|pending|without|waits? for|waiting for|to be|subject to|once)(?: an?| the| your| explicit| final| user)*[^.;]{0,20}\\b${APPROVAL}\\b|^[\`'"*_)\\s]*(?:is )?(?:pending|awaited)\\b`,
  "i",
)
/** An approval that is only spoken of is not there yet. */
const APPROVAL_OF = new RegExp(
  `\\b(?:approval|sign-?off|go-?ahead|permission|green light) (?:to|for|of|on)\\b[^.;]{0,40}$`,
  "i",
)

/** Said of an approval: it is there. */
const GRANTED =
  /\b(?:approvals?|sign-?off|go-?ahead|permission|green light)\b[^.;]{0,60}\b(?:given|granted|received|recorded|came|there)\b|\b(?:given|granted|received|got|have|has|with)\b(?! to\b)[^.;]{0,30}\b(?:approval|sign-?off|go-?ahead|permission|green light)\b/i
const GIVEN_BEFORE =
  /\b(?:approved|cleared|unblocked|greenlit|signed off)\b(?: for| to(?: enter| start| run| begin)?| on)?[\s`'"/*_:]*$/i
const GIVEN_AFTER =
  /^[`'"*_)\s]*(?:is |was |has been |got |now )*(?:approved|cleared|greenlit|unblocked|signed off|granted|given|allowed)\b/i

/** Said of it within a few words: `/spec-tasks search: done`, `bug-create (done)`, `spec-design is finally over`. */
const DONE_AFTER =
  /^(?![^,;.]{0,30}\b(?:be|being|almost|nearly|to|until|when|not|half|first|task|tests?|batch)\b)(?![^,;.]{0,12}\b\d{1,2}\s?%)[^,;.]{0,30}?\b(?:done|finished|completed?|written and approved|closed|(?:is|are|was|finally|now) over|behind us|merged|passed|ended|wrapped up|through|shipped)(?![\w-])|^[`'"*_)\s]*(?:[\w.-]{1,40} )?[✓✔✅☑]|^[^,;.]{0,20}\b(?:i|we) ran\b/iu
const DONE_BEFORE =
  /\b(?:(?:after|having|by) \w+ing|having \w+ed|finished|completed|done(?: with)?|wrapped up|closed|through with|left|past|ran|tried|attempted|executed|ended|concluded|did|after|since|following|from|coming out of|out of|moved on from|previously(?: in)?|was in|were in|had been in|used to be in|earlier|yesterday|last (?:week|session|time|entry))\b/gi

const LATER_BEFORE =
  /\b(?:before|until|till|once|when|as soon as|if|unless|later|eventually|subsequently|tomorrow|someday|hand-?off (?:to|for)|handing off to|prepar(?:e|ing|ation)(?: for| the)?|prep for|leads? to|leading to|on the way to|plan(?:ned|ning)? (?:for|to)|next (?:stage|phase) (?:is|will be|would be)|(?:will|should) (?:be|need|follow|come)|would|might|may|could|maybe|perhaps|probably|wanted to (?:jump|go|move|skip|start|run)(?: to| into)?|tempted to|path to|gate (?:to|for|of)|precondition (?:of|for)|requirement for)\b/i
const LATER_AFTER =
  /^[`'"*_)\s]*(?:[\w.-]{1,40} )?(?:comes? later|only (?:after|when|once|if)|later|afterwards|tomorrow|next week|once|when|as soon as|can come|will (?:follow|come|be|need)|would|may|might|before we)\b/i

const NOW_BEFORE =
  /\b(?:in|into|to|now|currently|today|working|work|continu(?:e|es|ed|ing)|resum(?:e|es|ed|ing)|start(?:s|ed|ing)?|begin(?:s|ning)?|began|enter(?:s|ed|ing)?|proceed(?:s|ed|ing)?|mov(?:e|es|ed|ing)|go(?:es|ing)?|went|back|run(?:s|ning)?|do(?:ing)?|kick(?:ed)? off|use|using|carry on|pick(?:ed)? up|picks up|stage|phase|mode|still|at|next|todo|to do|finish(?:ing)?|complet(?:e|ing)|leave|leaving|switch(?:ed)?|advanced?|reached|reopened|reopen|redo|repeat|try|launch|invoke|call(?:ed)?|trigger|time for|ready for|on|onto|opened|wip)\b/gi
const NOW_AFTER =
  /^[`'"*_)(:\s]*(?:[\w.-]{1,40} )?(?:is |are |was )?(?:now|running|active|current(?:ly)?|continues|started|begun|began|entered|goes on|is on|wip|again|today|next\b|open|first|it is|begins|starts|has priority|in (?:work|review))\b|^[`'"*_)(:\s]*\d{1,2}\s?%|^[`'"*_)\s]*(?:stage|phase|mode)\b/i
const GOING_ON = /\b(?:still (?:going|running|open|on)|in progress|ongoing|under ?way)\b/i
const DONE_LABEL = /\b(?:done|finished|completed|closed|ran|passed)\s*[:>=]\s*[`'"*_/]*$/i
const THEN_BEFORE = /\b(?:then|afterwards|after that|followed by)\b/gi
const THEN_AFTER = /^[`'"*_)\s]*(?:[\w.-]{1,40} )?(?:is next|comes? next|follows)\b/i
