/** The plot: tokens of every request against the window of the model it was sent to. */

export type TokenPoint =
  | {
      readonly kind: "turn"
      readonly turn: number
      /** What the provider counted as its input, cached or not. */
      readonly tokens: number
      readonly output: number
      readonly model: string
      /** As the log says; older logs do not. */
      readonly window?: number
    }
  | {
      readonly kind: "compaction"
      /** The last turn that was started before it. */
      readonly turn: number
      readonly compactionID: string
      readonly before: number
      readonly after: number
    }

export interface TokenSeries {
  readonly turns: readonly number[]
  readonly tokens: readonly number[]
  /** Null where the window of the model is not known. */
  readonly window: readonly (number | null)[]
  readonly compactions: readonly { readonly turn: number; readonly compactionID: string }[]
  /** Of the last turn; what a person wants to know first. */
  readonly last?: { readonly tokens: number; readonly window: number | null }
}

/** A compaction stands between two turns: the line falls from what it found to what it left. */
export const tokenSeries = (
  points: readonly TokenPoint[],
  windowOf: (model: string) => number | undefined,
): TokenSeries => {
  const turns: number[] = []
  const tokens: number[] = []
  const window: (number | null)[] = []
  const compactions: { turn: number; compactionID: string }[] = []
  let current: number | null = null
  let offset = 0
  const add = (turn: number, count: number): void => {
    turns.push(turn)
    tokens.push(count)
    window.push(current)
  }
  for (const point of points) {
    if (point.kind === "turn") {
      current = point.window ?? windowOf(point.model) ?? null
      offset = 0
      add(point.turn, point.tokens)
      continue
    }
    // Several compactions between the same turns come one after the other.
    offset = offset === 0 ? 0.4 : offset + (1 - offset) / 2
    const at = Math.max(point.turn + offset, (turns.at(-1) ?? 0) + Number.EPSILON)
    add(at, point.before)
    add(at, point.after)
    compactions.push({ turn: at, compactionID: point.compactionID })
  }
  // The window is known from the start on, also when a compaction came first.
  const first = window.find((value) => value !== null) ?? null
  const filled = window.map((value) => value ?? first)
  const count = tokens.at(-1)
  return {
    turns,
    tokens,
    window: filled,
    compactions,
    ...(count === undefined ? {} : { last: { tokens: count, window: filled.at(-1) ?? null } }),
  }
}
