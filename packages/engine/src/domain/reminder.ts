/**
 * What the model is reminded of besides the conversation. A switch of agents is told once, in its place in the history. The
 * last turn is told in the one request it concerns, behind everything else, where no later request has to repeat it.
 */
export interface SwitchedAgent {
  readonly from: string
  readonly to: string
  readonly description: string | undefined
  /** It may not change anything. */
  readonly onlyLooks: boolean
  /** The one before might not. */
  readonly onlyLooked: boolean
}

export const switchReminder = ({ from, to, description, onlyLooks, onlyLooked }: SwitchedAgent): string =>
  [
    `You work as the agent ${to} from here on, no longer as ${from}${description === undefined ? "." : `: ${description}`}`,
    "Instructions and permissions are those of this agent.",
    ...(onlyLooks ? ["Look and plan; change nothing until you are switched back."] : []),
    ...(onlyLooked && !onlyLooks
      ? ["You may change things again: carry out what was planned, unless the user says otherwise."]
      : []),
  ].join(" ")

/** Steers that came while the work was under way: told once, behind them. */
export const STEERED =
  "The user sent this while you were at work. Take it into account and go on with the task, unless it says otherwise."

export const WRAP_UP =
  "This is the last turn you have for this work, and there are no tools in it. Answer in words: what is done, what is not, and what the next step is."

/** The same where the work is to end with a value. */
export const WRAP_UP_WITH_VALUE =
  "This is the last turn you have for this work. Give the result now, as complete as it is."
