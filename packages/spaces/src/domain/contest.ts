/** Several runs at the same task, kept apart so that one of them can be chosen: `run spawn --best-of`. */
import type { RunVerdict } from "./check.ts"

/** As many as anybody reads the work of. */
export const MOST_CONTESTANTS = 16

export interface Contestant {
  readonly status: string
  readonly verdict?: RunVerdict | undefined
  /** Files its checks depend on that it changed itself. */
  readonly changedCheckFiles: number
  readonly costUsd?: number | undefined
  readonly durationSecs?: number | undefined
}

/** The one to look at first: proved by checks it left alone, then cheap, then quick. The earlier one of two that are alike. */
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

/** Which model each of them gets: in turn. */
export const modelsFor = (count: number, models: readonly string[]): readonly (string | undefined)[] =>
  Array.from({ length: count }, (_, index) => models[index % Math.max(1, models.length)])
