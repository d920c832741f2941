/** What a drain does after a turn, or when it starts. A value, so that the loop is one switch. */
export type NextStep =
  /** Another provider turn in the same activity. */
  | { readonly kind: "turn" }
  /** The activity has settled; a queued input opens the next one. */
  | { readonly kind: "open-next" }
  | { readonly kind: "idle" }
  | { readonly kind: "fail"; readonly limit: number }

export interface Standing {
  /** The last turn's local tool results have not been shown to the model yet. */
  readonly resultsToShow: boolean
  readonly pendingSteers: number
  readonly pendingQueued: number
  /** Provider turns since the last promotion. */
  readonly turns: number
  readonly turnLimit: number
}

export const decideNext = (standing: Standing): NextStep => {
  // A steer is new work with a new allowance, so it goes before the limit.
  if (standing.pendingSteers > 0) return { kind: "turn" }
  if (standing.resultsToShow)
    return standing.turns >= standing.turnLimit
      ? { kind: "fail", limit: standing.turnLimit }
      : { kind: "turn" }
  if (standing.pendingQueued > 0) return { kind: "open-next" }
  return { kind: "idle" }
}
