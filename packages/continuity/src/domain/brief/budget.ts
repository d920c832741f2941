/**
 * How much may be pinned, depending on the model's context window: 1,000 tokens from a 32k window on, 400 at 8k,
 * proportional in between; below 8k one token in twenty. A model with an unknown window counts as large.
 */
import { TEXT_LIMITS } from "../limits.ts"

export const pinTokens = (window?: number, most: number = TEXT_LIMITS.briefTokens): number => {
  if (window === undefined || !Number.isFinite(window) || window <= 0) return most
  return Math.min(most, Math.floor(shareOf(window) * Math.max(1, most / TEXT_LIMITS.briefTokens)))
}

/** For other texts: the requested tokens, but at most this share of the model's window. */
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
