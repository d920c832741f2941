/** What a drain does when it starts and after each turn. A value, so that the loop is one switch. */
export type NextStep =
  /** Another provider turn in the same activity. */
  | { readonly kind: "turn" }
  /** The activity has settled; a queued input opens the next one. */
  | { readonly kind: "open-next" }
  | { readonly kind: "idle" }
  /** The activity is unfinished, and no further turn is allowed. */
  | { readonly kind: "fail"; readonly limit: number }
  /** The model does not give the requested value. */
  | { readonly kind: "no-answer" }

export interface Standing {
  /** The last turn's local tool results have not been shown to the model yet. */
  readonly resultsToShow: boolean
  readonly pendingSteers: number
  readonly pendingQueued: number
  /** Provider turns since the last promotion. */
  readonly turns: number
  readonly turnLimit: number
  /** Inputs of the activity ask for a value and do not have it yet. How many answers were refused. */
  readonly wanted?: { readonly refused: number; readonly mostRefused: number } | undefined
}

export const decideNext = (standing: Standing): NextStep => {
  // A steer is new work with a new allowance, so it is checked before the limit.
  if (standing.pendingSteers > 0) return { kind: "turn" }
  const { wanted } = standing
  const isOver = standing.turns >= standing.turnLimit
  if (wanted !== undefined && wanted.refused > 0 && (isOver || wanted.refused >= wanted.mostRefused))
    return { kind: "no-answer" }
  if (standing.resultsToShow || wanted !== undefined)
    return isOver ? { kind: "fail", limit: standing.turnLimit } : { kind: "turn" }
  if (standing.pendingQueued > 0) return { kind: "open-next" }
  return { kind: "idle" }
}
