/** Seeded, so that every run gives the same report, byte for byte. */
export interface Random {
  /** At least 0, below 1. */
  readonly next: () => number
  readonly pick: <Value>(values: readonly [Value, ...Value[]]) => Value
  /** Eight letters and digits that cannot be guessed or written by chance. */
  readonly token: () => string
}

export const openRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const letter = (): string => "bcdfghjkmnpqrstvwxz23456789".charAt(Math.floor(next() * 27))
  return {
    next,
    pick: (values) => values[Math.floor(next() * values.length)] ?? values[0],
    token: () => Array.from({ length: 8 }, letter).join(""),
  }
}
