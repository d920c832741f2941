/**
 * What one attempt has used up, from two sources of which neither knows everything: the lines its harness prints, and
 * the requests it records. Lines may come late, leave out sub-agents, or have been cut off. The records of some
 * harnesses leave out compactions. Pure.
 */
import { numberAt, wordAt, type JsonObject } from "@meridian/protocol"

import type { ModelPrice } from "../domain/model-limits.ts"
import { tokensOf } from "../domain/run-caps.ts"
import { decodeUsage } from "../harness/event-codec.ts"
import type { HarnessEvent, KeptRequest, Usage } from "../port/harness.ts"
import { addUsage } from "./run-outcome.ts"

/** The events that report usage. */
export type TallyEvent =
  | Extract<HarnessEvent, { type: "usage" | "spending" | "compaction" }>
  | { readonly type: "turn.ended" | "retry" }

export interface Tally {
  /** Final usage. It includes every request until `settledMs`. */
  readonly settled: Usage | undefined
  readonly settledMs: number
  /** Usage reported for requests since then. */
  readonly open: Usage | undefined
  /** What compactions since then have read and written, if known. */
  readonly compactions: Usage | undefined
  readonly turns: number
  /** Retries and compactions: each is a turn, but in no list of requests. */
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

/** How a harness reports its requests. */
export interface Teller {
  /** A usage line covers everything used until then, including sub-agents. */
  readonly tellsAll: boolean
  /** It reports usage at once, so its records add nothing unless the worker was lost. */
  readonly tellsAtOnce: boolean
  /** The kind of line that counts as one turn. */
  readonly turnLine: "spending" | "turn.ended"
  /** Compactions are turns that no other line reports. */
  readonly compactsUntold: boolean
}

export const tellerOf = (harness: string): Teller => ({
  tellsAll: harness !== "opencode" && harness !== "codex",
  tellsAtOnce: harness === "direct",
  turnLine: harness === "claude" ? "spending" : "turn.ended",
  compactsUntold: harness !== "opencode" && harness !== "codex",
})

/** Adds one line, which arrived at `atMs`. */
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

/** A compaction read the old content and wrote the new. A later usage line is more exact. */
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

/** Takes the provider's name for the model. Undefined if the price is unknown. */
export type PriceOf = (model: string) => ModelPrice | undefined

export interface Used {
  readonly usage: Usage | undefined
  readonly turns: number
  /** The price of some of it is unknown. */
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

/** Neither source may hide what the other knows. */
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
