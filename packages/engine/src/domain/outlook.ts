/**
 * What the next turn will be like, where its cast depends on it. Computed when the cast is chosen and again when the turn
 * begins, because a steer may have arrived in between.
 */
import type { Overrides } from "@meridian/protocol"

import { choosePromotions, type Boundary } from "./promotion.ts"
import { overridesAhead } from "./transcript/activity.ts"
import { inputsToRun, type WaitingInput } from "./transcript/inbox.ts"
import type { Transcript } from "./transcript/transcript.ts"

export interface Moment {
  readonly boundary: Boundary
  /** Turns of this drain since input was last promoted. */
  readonly turns: number
  /** Inputs up to this sequence that waited for a demand have had one. */
  readonly released: number
}

export interface TurnBounds {
  readonly steerBatch: number
  readonly turnsPerActivity: number
  /** How many turns of one activity the agent may take. */
  readonly steps: number
}

export interface Outlook {
  /** Inputs that become visible with the turn. */
  readonly chosen: readonly WaitingInput[]
  /** The last allowed turn of this activity. */
  readonly isLast: boolean
  /** How the activity's inputs, including the chosen ones, change the request. */
  readonly overrides: Overrides
}

export const outlookOf = (
  { inbox, activity }: Pick<Transcript, "inbox" | "activity">,
  { boundary, turns, released }: Moment,
  { steerBatch, turnsPerActivity, steps }: TurnBounds,
): Outlook => {
  const chosen = choosePromotions(inputsToRun(inbox, released), boundary, steerBatch)
  // An activity that was resumed after a crash has already used some of its steps.
  const [before, taken] = chosen.length > 0 ? [0, 0] : [turns, activity.turns]
  return {
    chosen,
    isLast: before + 1 >= turnsPerActivity || taken + 1 >= steps,
    overrides: overridesAhead(activity, chosen),
  }
}
