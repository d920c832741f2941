/**
 * What one attempt has used up, from two sources that each know something the other does not: the lines that its harness tells,
 * and the requests that it keeps. Lines may come late, leave out sub-agents, or have been cut off; what is kept leaves out
 * compactions in some. Pure.
 */
import { numberAt, wordAt, type JsonObject } from "@meridian/protocol"

import type { ModelPrice } from "../domain/model-limits.ts"
import { tokensOf } from "../domain/run-caps.ts"
import { decodeUsage } from "../harness/event-codec.ts"
import type { HarnessEvent, KeptRequest, Usage } from "../port/harness.ts"
import { addUsage } from "./run-outcome.ts"

/** Those that say something about it. */
export type TallyEvent =
  | Extract<HarnessEvent, { type: "usage" | "spending" | "compaction" }>
  | { readonly type: "turn.ended" | "retry" }

export interface Tally {
  /** Told for good; every request until `settledMs` is part of it. */
  readonly settled: Usage | undefined
  readonly settledMs: number
  /** Told of requests since then. */
  readonly open: Usage | undefined
  /** What compactions since then have read and written, as far as they said. */
  readonly compactions: Usage | undefined
  readonly turns: number
  /** Retries and compactions: a turn each, and in no list of requests. */
  readonly others: number
}

export const openTally = (beganMs: number): Tally => ({
  settled: undefined,
  settledMs: beganMs,
  open: undefined,
  compactions: undefined,
  turns: 0,
  others: 0,
})

/** How a harness tells of its requests. */
export interface Teller {
  /** A line of usage tells all that was used until then, by sub-agents too. */
  readonly tellsAll: boolean
  /** As soon as it was used: what is kept says no more, unless its worker was lost. */
  readonly tellsAtOnce: boolean
  /** What a line of one turn is. */
  readonly turnLine: "spending" | "turn.ended"
  /** Compactions are turns that no other line tells. */
  readonly compactsUntold: boolean
}

export const tellerOf = (harness: string): Teller => ({
  tellsAll: harness !== "opencode" && harness !== "codex",
  tellsAtOnce: harness === "direct",
  turnLine: harness === "claude" ? "spending" : "turn.ended",
  compactsUntold: harness !== "opencode" && harness !== "codex",
})

/** One line more, told at a time in milliseconds. */
export const tally = (
  before: Tally,
  event: TallyEvent,
  { atMs, teller }: { readonly atMs: number; readonly teller: Teller },
): Tally => {
  const now = event.type === teller.turnLine ? { ...before, turns: before.turns + 1 } : before
  switch (event.type) {
    case "usage":
      return teller.tellsAll
        ? {
            ...now,
            settled: addUsage(now.settled, event.usage),
            settledMs: atMs,
            open: undefined,
            compactions: undefined,
          }
        : { ...now, open: addUsage(now.open, event.usage) }
    case "spending":
      return { ...now, open: addUsage(now.open, event.usage) }
    case "compaction":
      return event.phase === "ended" && teller.compactsUntold ? compacted(now, event) : now
    case "retry":
      return { ...now, others: now.others + 1 }
    case "turn.ended":
      return now
  }
}

/** It read what was there and wrote what is there now; a line of usage says it better later. */
const compacted = (
  before: Tally,
  { tokensBefore = 0, tokensAfter = 0 }: Extract<HarnessEvent, { type: "compaction" }>,
): Tally => ({
  ...before,
  others: before.others + 1,
  compactions: addUsage(before.compactions, {
    inputTokens: tokensBefore,
    cachedInputTokens: 0,
    outputTokens: tokensAfter,
  }),
})

/** By the name of its provider's; undefined where nobody knows it. */
export type PriceOf = (model: string) => ModelPrice | undefined

export interface Used {
  readonly usage: Usage | undefined
  readonly turns: number
  /** Some of it has a price that nobody knows. */
  readonly isUnpriced: boolean
}

export const usedBy = (
  told: Tally,
  kept: readonly KeptRequest[],
  about: { readonly teller: Teller; readonly model: string; readonly priceOf: PriceOf },
): Used => {
  const { teller, model, priceOf } = about
  const since = teller.tellsAll ? kept.filter(({ atMs }) => atMs > told.settledMs) : kept
  const priced = (usage: Usage | undefined): Usage | undefined =>
    usage === undefined ? undefined : withPrice(usage, priceOf(model))
  const keptUsage = since
    .map((request) => asUsage(request, priceOf(request.model)))
    .reduce<Usage | undefined>(addUsage, undefined)
  const open = larger(priced(told.open), keptUsage)
  const parts = [priced(told.settled), open, priced(told.compactions)]
  return {
    usage: parts.reduce(addUsage, undefined),
    turns: Math.max(told.turns, kept.length) + told.others,
    isUnpriced:
      parts.some((part) => part !== undefined && tokensOf(part) > 0 && part.costUsd === undefined) ||
      since.some((request) => request.costUsd === undefined && priceOf(request.model) === undefined),
  }
}

const withPrice = (usage: Usage, price: ModelPrice | undefined): Usage =>
  usage.costUsd !== undefined || price === undefined
    ? usage
    : { ...usage, costUsd: dollars({ ...usage, cacheWriteTokens: 0 }, price) }

const asUsage = (request: KeptRequest, price: ModelPrice | undefined): Usage => {
  const { inputTokens, cacheWriteTokens, cachedInputTokens, outputTokens } = request
  const costUsd = request.costUsd ?? (price === undefined ? undefined : dollars(request, price))
  return {
    inputTokens: inputTokens + cacheWriteTokens,
    cachedInputTokens,
    outputTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

const dollars = (
  used: Pick<KeptRequest, "inputTokens" | "cacheWriteTokens" | "cachedInputTokens" | "outputTokens">,
  price: ModelPrice,
): number =>
  (used.inputTokens * price.input +
    used.cacheWriteTokens * (price.cacheWrite ?? price.input) +
    used.cachedInputTokens * (price.cacheRead ?? price.input) +
    used.outputTokens * price.output) /
  1_000_000

/** Neither may hide what the other knows. */
const larger = (left: Usage | undefined, right: Usage | undefined): Usage | undefined => {
  if (left === undefined || right === undefined) return left ?? right
  const costs = [left.costUsd, right.costUsd].filter((cost) => cost !== undefined)
  const { costUsd: _, ...tokens } = tokensOf(right) > tokensOf(left) ? right : left
  return { ...tokens, ...(costs.length === 0 ? {} : { costUsd: Math.max(...costs) }) }
}

/** From a line of `events.jsonl`. */
export const tallyEventIn = (line: JsonObject): TallyEvent | undefined => {
  const type = wordAt(line, "type")
  switch (type) {
    case "usage":
    case "spending":
      return { type, usage: decodeUsage(line) }
    case "turn.ended":
    case "retry":
      return { type }
    case "compaction":
      return compactionIn(line)
    default:
      return undefined
  }
}

const compactionIn = (line: JsonObject): TallyEvent => {
  const [tokensBefore, tokensAfter] = [numberAt(line, "tokens_before"), numberAt(line, "tokens_after")]
  return {
    type: "compaction",
    phase: line["phase"] === "ended" ? "ended" : "started",
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
  }
}

export const isTallied = (event: HarnessEvent): event is HarnessEvent & TallyEvent => TALLIED.has(event.type)

const TALLIED: ReadonlySet<string> = new Set(["usage", "spending", "compaction", "turn.ended", "retry"])
