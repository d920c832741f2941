/**
 * What the turn that may come next is like, as far as its cast depends on it. Looked at when the cast is chosen, and again
 * when the turn begins: by then somebody may have sent a steer.
 */
import type { Overrides } from "@meridian/protocol"

import { choosePromotions, type Boundary } from "./promotion.ts"
import { overridesAhead } from "./transcript/activity.ts"
import { inputsToRun, type WaitingInput } from "./transcript/inbox.ts"
import type { Transcript } from "./transcript/transcript.ts"

export interface Moment {
  readonly boundary: Boundary
  /** Turns that this drain has taken since input was last promoted. */
  readonly turns: number
  /** Up to where inputs that wait for a demand have had one. */
  readonly released: number
}

export interface TurnBounds {
  readonly steerBatch: number
  readonly turnsPerActivity: number
  /** Turns of one activity that the agent may take. */
  readonly steps: number
}

export interface Outlook {
  /** Inputs that become visible with it. */
  readonly chosen: readonly WaitingInput[]
  /** No further turn of this activity is allowed. */
  readonly isLast: boolean
  /** What its inputs, those included, change about the request. */
  readonly overrides: Overrides
}

export const outlookOf = (
  { inbox, activity }: Pick<Transcript, "inbox" | "activity">,
  { boundary, turns, released }: Moment,
  { steerBatch, turnsPerActivity, steps }: TurnBounds,
): Outlook => {
  const chosen = choosePromotions(inputsToRun(inbox, released), boundary, steerBatch)
  // An activity that goes on after a crash has used some of its steps already.
  const [before, taken] = chosen.length > 0 ? [0, 0] : [turns, activity.turns]
  return {
    chosen,
    isLast: before + 1 >= turnsPerActivity || taken + 1 >= steps,
    overrides: overridesAhead(activity, chosen),
  }
}
