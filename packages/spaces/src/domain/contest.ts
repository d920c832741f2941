/** Several runs at the same task, kept apart so that one of them can be chosen: `run spawn --best-of`. */
import type { RunVerdict } from "./check.ts"

/** More than a person would compare. */
export const MOST_CONTESTANTS = 16

export interface Contestant {
  readonly status: string
  readonly verdict?: RunVerdict | undefined
  /** Files its checks depend on that the agent changed. */
  readonly changedCheckFiles: number
  readonly costUsd?: number | undefined
  readonly durationSecs?: number | undefined
}

/** The contestant to look at first: proved by unchanged checks, then cheap, then quick. Of two equal ones, the earlier. */
export const bestOf = <T extends Contestant>(contestants: readonly T[]): T | undefined =>
  contestants.toSorted(
    (one, other) =>
      standing(one) - standing(other) ||
      (one.costUsd ?? 0) - (other.costUsd ?? 0) ||
      (one.durationSecs ?? 0) - (other.durationSecs ?? 0),
  )[0]

const standing = ({ status, verdict, changedCheckFiles }: Contestant): number => {
  if (status !== "succeeded") return 3
  if (verdict !== "verified") return 2
  return changedCheckFiles === 0 ? 0 : 1
}

/** The model of each contestant, in turn. */
export const modelsFor = (count: number, models: readonly string[]): readonly (string | undefined)[] =>
  Array.from({ length: count }, (_, index) => models[index % Math.max(1, models.length)])
