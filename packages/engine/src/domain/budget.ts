/**
 * Whether a request fits. The budget is the window, less the larger of the model's longest answer and a configured buffer.
 * The estimate starts from the provider's last report: only later additions are guessed, and each report corrects the
 * guess.
 */
import type { RecordedPrompt, RecordedUsage } from "@meridian/protocol"

import { lowerParts, promptText } from "./prompt-parts.ts"
import { estimateContent, estimateFiles, estimateText } from "./tokens.ts"
import type { Conversation } from "./transcript/conversation.ts"
import { isSettled, type AssistantItem, type Item } from "./transcript/items.ts"
import type { Transcript } from "./transcript/transcript.ts"

export interface CompactionSettings {
  readonly auto: boolean
  /** The least number of tokens to keep free. */
  readonly buffer: number | undefined
  /** Tokens of recent history that a checkpoint keeps verbatim. */
  readonly keepTokens: number | undefined
}

const DEFAULT_BUFFER = 20_000
const DEFAULT_KEEP = 8_000

/** The most tokens a request may have. */
export const budgetOf = (
  model: { readonly contextWindow: number; readonly maxOutput: number },
  settings: Pick<CompactionSettings, "buffer">,
): number => {
  // The default buffer suits large windows and must not swallow a small one.
  const buffer = settings.buffer ?? Math.min(DEFAULT_BUFFER, Math.floor(model.contextWindow / 10))
  return Math.max(0, model.contextWindow - Math.max(model.maxOutput, buffer))
}

export const keepTokensOf = (budget: number, settings: Pick<CompactionSettings, "keepTokens">): number =>
  Math.min(settings.keepTokens ?? DEFAULT_KEEP, Math.floor(budget / 4))

/** Whether a partly guessed request fits even if the guess is bad. */
export const surelyFits = (tokens: {
  readonly budget: number
  readonly known: number
  readonly coming: number
}): boolean => tokens.known + tokens.coming * MOST_CORRECTION <= tokens.budget

/**
 * Tokens of one item as the model sees it. Results of calls are separate, because they come after the turn was reported.
 */
export interface ItemTokens {
  readonly content: number
  readonly results: number
}

export interface Estimator {
  readonly item: (item: Item) => ItemTokens
  /** Tokens of the whole request. `overhead` is everything before the history (system, tools). */
  readonly request: (
    transcript: Pick<Transcript, "conversation" | "compactions">,
    request: { readonly model: string; readonly overhead: number },
  ) => number
  /** Our own estimate, when the provider's last report is far larger and is believed. */
  readonly doubted: (
    transcript: Pick<Transcript, "conversation" | "compactions">,
    request: { readonly model: string; readonly overhead: number },
  ) => number | undefined
}

const LEAST_PLAUSIBLE = 0.5
const MOST_CORRECTION = 2
const ENOUGH_TO_LEARN = 500

/** A message costs slightly more than its text. */
const PER_MESSAGE = 4

export const createEstimator = (): Estimator => {
  const known = new WeakMap<Item, ItemTokens>()

  const item = (entry: Item): ItemTokens => {
    const cached = known.get(entry)
    if (cached !== undefined) return cached
    const tokens = tokensOf(entry)
    if (isSettled(entry)) known.set(entry, tokens)
    return tokens
  }

  /** Tokens of the first `count` items at one revision. All of them are final. */
  let prefix = { revision: -1, count: 0, tokens: 0 }

  const sumBefore = ({ items, revision }: Conversation, end: number): number => {
    if (prefix.revision !== revision || prefix.count > end) prefix = { revision, count: 0, tokens: 0 }
    for (let next = items[prefix.count]; prefix.count < end; next = items[prefix.count]) {
      if (next === undefined || !isSettled(next)) break
      prefix.tokens += total(item(next))
      prefix.count += 1
    }
    return prefix.tokens + sum(items, prefix.count, end)
  }

  const sum = (items: readonly Item[], from: number, to: number): number => {
    let tokens = 0
    for (let index = from; index < to; index += 1) {
      const entry = items[index]
      if (entry !== undefined) tokens += total(item(entry))
    }
    return tokens
  }

  const guess = (conversation: Conversation, overhead: number): number =>
    overhead + sumBefore(conversation, conversation.items.length)

  /** The last report that still applies to this request, and its ratio to our estimate. */
  const compare: (...about: Parameters<Estimator["request"]>) => Report | undefined = (
    { conversation, compactions },
    { model, overhead },
  ) => {
    const { items, lastUsage: last, prunedSeq } = conversation
    if (last === undefined || last.model !== model) return undefined
    if (last.seq < compactions.seq || last.seq < prunedSeq) return undefined
    const at = items.findLastIndex((entry) => entry.kind === "assistant" && entry.id === last.messageID)
    const turn = items[at]
    if (turn === undefined) return undefined
    const guessed = overhead + sumBefore(conversation, at)
    return { usage: last.usage, at, turn, guessed, ratio: promptTokens(last.usage) / Math.max(1, guessed) }
  }

  const request: Estimator["request"] = (transcript, about) => {
    const { conversation, compactions } = transcript
    const report = compare(transcript, about)
    // Some servers report nothing or nonsense. Our guess is never off by half, so it is better than that.
    if (report === undefined || report.ratio < LEAST_PLAUSIBLE) return guess(conversation, about.overhead)
    // We believed such a report once, and the compaction did not help. A second one would not help either.
    if (isFarOff(report) && compactions.disbelieves) return guess(conversation, about.overhead)
    const { items } = conversation
    const { usage, at, turn, guessed, ratio } = report
    const correction = guessed < ENOUGH_TO_LEARN ? 1 : Math.min(ratio, MOST_CORRECTION)
    const added = item(turn).results + sum(items, at + 1, items.length)
    return reported(usage) + Math.ceil(added * correction)
  }

  const doubted: Estimator["doubted"] = (transcript, about) => {
    const report = compare(transcript, about)
    if (report === undefined || !isFarOff(report) || transcript.compactions.disbelieves) return undefined
    return guess(transcript.conversation, about.overhead)
  }

  return { item, request, doubted }
}

interface Report {
  readonly usage: RecordedUsage
  readonly at: number
  readonly turn: Item
  readonly guessed: number
  readonly ratio: number
}

const isFarOff = ({ ratio }: Report): boolean => ratio > MOST_CORRECTION

/** Everything the provider read and wrote in its last turn. The next request begins with exactly that. */
const reported = (usage: RecordedUsage): number => promptTokens(usage) + usage.output + usage.reasoning

const promptTokens = (usage: RecordedUsage): number => usage.input + usage.cacheRead + usage.cacheWrite

const total = (tokens: ItemTokens): number => tokens.content + tokens.results

const tokensOf = (entry: Item): ItemTokens => {
  switch (entry.kind) {
    case "user":
      return { content: estimatePrompt(entry.prompt), results: 0 }
    case "synthetic":
    case "context":
      return { content: PER_MESSAGE + estimateText(entry.text), results: 0 }
    case "checkpoint":
      return {
        content: PER_MESSAGE + 80 + estimateText(entry.summary) + estimateText(entry.recent),
        results: 0,
      }
    case "assistant":
      return assistantTokens(entry)
  }
}

export const estimatePrompt = (prompt: RecordedPrompt): number =>
  PER_MESSAGE +
  estimateText(promptText(prompt)) +
  estimateFiles(prompt.files ?? []) +
  lowerParts(prompt).reduce(
    (sum, part) =>
      sum +
      (part.type === "text"
        ? estimateText(part.text)
        : estimateFiles([
            { mediaType: part.mediaType, base64: part.data.type === "data" ? part.data.data : "" },
          ])),
    0,
  )

const assistantTokens = (entry: AssistantItem): ItemTokens => {
  let content = PER_MESSAGE
  let results = 0
  for (const part of entry.parts) {
    if (part.type !== "tool") {
      content += estimateText(part.text)
      continue
    }
    content += PER_MESSAGE + estimateText(part.tool) + estimateText(JSON.stringify(part.input ?? {}))
    results += PER_MESSAGE
    if (part.pruned === true) results += 20
    else if (part.outcome?.kind === "success")
      results +=
        estimateContent(part.outcome.content) +
        (part.outcome.result === undefined ? 0 : estimateText(JSON.stringify(part.outcome.result)))
    else if (part.outcome?.kind === "failed") results += estimateText(part.outcome.error.message)
  }
  return { content, results }
}
