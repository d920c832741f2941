/**
 * Reminders for the model besides the conversation. A switch of agents is reported once, at its place in the history. The
 * last turn is reported only in its own request, after everything else, so that no later request repeats it.
 */
export interface SwitchedAgent {
  readonly from: string
  readonly to: string
  readonly description: string | undefined
  /** The new agent may not change anything. */
  readonly onlyLooks: boolean
  /** The previous agent could not change anything. */
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

/** For steers that arrived during the work. Sent once, after them. */
export const STEERED =
  "The user sent this while you were at work. Take it into account and go on with the task, unless it says otherwise."

export const WRAP_UP =
  "This is the last turn you have for this work, and there are no tools in it. Answer in words: what is done, what is not, and what the next step is."

/** The same when the work must end with a value. */
export const WRAP_UP_WITH_VALUE =
  "This is the last turn you have for this work. Give the result now, as complete as it is."
