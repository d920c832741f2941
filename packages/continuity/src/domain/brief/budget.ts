/**
 * How much may be pinned, by what the model can hold: 1,000 tokens from a 32k window on, 400 at 8k, in between by
 * proportion; below 8k one token in twenty. A model nobody knows the window of is taken for a large one.
 */
import { TEXT_LIMITS } from "../limits.ts"

export const pinTokens = (window?: number, most: number = TEXT_LIMITS.briefTokens): number => {
  if (window === undefined || !Number.isFinite(window) || window <= 0) return most
  return Math.min(most, Math.floor(shareOf(window) * Math.max(1, most / TEXT_LIMITS.briefTokens)))
}

/** For other texts: as many tokens as asked for, but not more than such a share of what the model can hold. */
export const scaleTokens = (most: number, window: number | undefined, share: number): number =>
  window === undefined || !Number.isFinite(window) || window <= 0
    ? most
    : Math.min(most, Math.max(LEAST, Math.floor(window * share)))

const LEAST = 100

const SMALL = { window: 8_000, tokens: 400 } as const
const LARGE = { window: 32_000, tokens: TEXT_LIMITS.briefTokens } as const

const shareOf = (window: number): number => {
  if (window >= LARGE.window) return LARGE.tokens
  if (window <= SMALL.window) return (window * SMALL.tokens) / SMALL.window
  const part = (window - SMALL.window) / (LARGE.window - SMALL.window)
  return SMALL.tokens + part * (LARGE.tokens - SMALL.tokens)
}
