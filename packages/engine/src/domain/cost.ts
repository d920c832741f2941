import type { RecordedUsage } from "@meridian/protocol"

/** Dollars per million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

const PER = 1_000_000

/**
 * The cost of one turn in dollars; 0 for a model without a price. Cached tokens without a separate price cost as much as
 * input.
 */
export const costOf = (usage: RecordedUsage, price: ModelPrice | undefined): number => {
  if (price === undefined) return 0
  const dollars =
    usage.input * price.input +
    (usage.output + usage.reasoning) * price.output +
    usage.cacheRead * (price.cacheRead ?? price.input) +
    usage.cacheWrite * (price.cacheWrite ?? price.input)
  return dollars / PER
}
