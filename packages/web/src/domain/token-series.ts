/** The plot: the tokens of every request, compared with the model's context window. */

export type TokenPoint =
  | {
      readonly kind: "turn"
      readonly turn: number
      /** The provider's count of input tokens, cached or not. */
      readonly tokens: number
      readonly output: number
      readonly model: string
      /** Older logs do not have it. */
      readonly window?: number
    }
  | {
      readonly kind: "compaction"
      /** The last turn that started before it. */
      readonly turn: number
      readonly compactionID: string
      readonly before: number
      readonly after: number
    }

export interface TokenSeries {
  readonly turns: readonly number[]
  readonly tokens: readonly number[]
  /** Null when the model's context window is unknown. */
  readonly window: readonly (number | null)[]
  readonly compactions: readonly { readonly turn: number; readonly compactionID: string }[]
  /** The last turn, which a person wants to see first. */
  readonly last?: { readonly tokens: number; readonly window: number | null }
}

/** A compaction is drawn between two turns: the line falls from its tokens before to its tokens after. */
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
    // Several compactions between the same turns are drawn one after the other.
    offset = offset === 0 ? 0.4 : offset + (1 - offset) / 2
    const at = Math.max(point.turn + offset, (turns.at(-1) ?? 0) + Number.EPSILON)
    add(at, point.before)
    add(at, point.after)
    compactions.push({ turn: at, compactionID: point.compactionID })
  }
  // The window is shown from the start, even when a compaction came first.
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
