/**
 * What a compaction replaces and what it leaves alone. The pending prompt and the newest complete turn stay real messages.
 * Everything older becomes one checkpoint: a rolling summary, and as much of the newest old part as fits, verbatim.
 */
import type { Estimator } from "./budget.ts"
import { quoted } from "./inert-text.ts"
import { LIMITS } from "./limits.ts"
import { CONTINUE, STOP_CHOICE, type Pause } from "./question.ts"
import { serializeItem } from "./serialize.ts"
import { estimateText } from "./tokens.ts"
import type { CompactionProgress, Pace } from "./transcript/compactions.ts"
import type { CheckpointItem, Item } from "./transcript/items.ts"

export interface CompactionPlan {
  readonly previous: CheckpointItem | undefined
  /** The old messages, oldest first, that the summary must cover. */
  readonly summarized: readonly Item[]
  /** The newest old messages, kept verbatim beside the summary. */
  readonly recent: string
  readonly kept: readonly string[]
  readonly range: { readonly from: number; readonly through: number }
  readonly messages: number
  /** How many tokens the summary may have. */
  readonly summaryTokens: number
  readonly keptTokens: number
}

export type CompactionDecision =
  | { readonly kind: "compact"; readonly plan: CompactionPlan }
  /** There is no older complete turn. A compaction could only lose the task itself. */
  | { readonly kind: "nothing" }

export interface CompactionFacts {
  readonly items: readonly Item[]
  readonly estimator: Estimator
  readonly budget: number
  /** Tokens of everything except the history. */
  readonly overhead: number
  readonly keepTokens: number
}

const MOST_SUMMARY_TOKENS = 4_096
const LEAST_SUMMARY_TOKENS = 200

export const planCompaction = (facts: CompactionFacts): CompactionDecision => {
  const { items, estimator, budget, overhead, keepTokens } = facts
  const previous = items.find((item) => item.kind === "checkpoint")
  // The model never saw a turn that failed before it said anything.
  const messages = items.filter(
    (item) => isToModel(item) || (item.kind === "assistant" && item.parts.length > 0),
  )
  const keep = chooseKept(messages, estimator, Math.max(0, budget - overhead))
  const old = messages.filter((item) => !keep.has(item))
  const last = items.at(-1)
  if (old.length === 0 || last === undefined) return { kind: "nothing" }
  let keptTokens = 0
  for (const item of keep) keptTokens += tokensOf(estimator, item)
  const room = Math.max(0, budget - overhead - keptTokens)
  const summaryTokens = Math.max(LEAST_SUMMARY_TOKENS, Math.min(MOST_SUMMARY_TOKENS, Math.floor(room * 0.3)))
  const { summarized, recent } = splitRecent(old, Math.min(keepTokens, Math.floor(room * 0.3)))
  return {
    kind: "compact",
    plan: {
      previous,
      summarized,
      recent,
      kept: [...keep].map((item) => item.id),
      range: { from: 1, through: endOf(old, keep, last) },
      messages: old.length,
      summaryTokens,
      keptTokens,
    },
  }
}

/** Addressed to the model, by a person or a program. */
const isToModel = ({ kind }: Item): boolean => kind === "user" || kind === "synthetic"

/** The last sequence that the checkpoint replaces: just before the first kept message that is newer than all old ones. */
const endOf = (old: readonly Item[], keep: ReadonlySet<Item>, last: Item): number => {
  const newestOld = old.at(-1)?.seq ?? 0
  for (const item of keep) if (item.seq > newestOld) return item.seq - 1
  return last.seq
}

/**
 * Always keeps the pending prompt. Also keeps the newest complete turn and its prompt, unless they leave no room for a
 * summary.
 */
const chooseKept = (messages: readonly Item[], estimator: Estimator, room: number): ReadonlySet<Item> => {
  const keep = new Set<Item>()
  const lastTurn = messages.findLastIndex((item) => item.kind === "assistant" && item.ended)
  const pending = messages.slice(lastTurn + 1).filter(isToModel)
  const asked = pending.length > 0 ? pending : lastPrompts(messages, messages.length - 1)
  for (const item of asked) keep.add(item)
  const turn = messages[lastTurn]
  if (turn === undefined) return keep
  const newest = pending.length > 0 ? [...lastPrompts(messages, lastTurn - 1, true), turn] : [turn]
  let tokens = 0
  for (const item of [...newest, ...keep]) tokens += tokensOf(estimator, item)
  if (tokens + LEAST_SUMMARY_TOKENS <= room * 0.95) for (const item of newest) keep.add(item)
  // In conversation order.
  return new Set(messages.filter((item) => keep.has(item)))
}

const isToModelAt = (messages: readonly Item[], at: number): boolean => {
  const item = messages[at]
  return item !== undefined && isToModel(item)
}

/** The run of user messages that ends at or before `end`; with `adjacent`, only if it ends exactly there. */
const lastPrompts = (messages: readonly Item[], end: number, adjacent = false): readonly Item[] => {
  let last = end
  if (!adjacent) while (last >= 0 && !isToModelAt(messages, last)) last -= 1
  let first = last
  while (first >= 0 && isToModelAt(messages, first)) first -= 1
  return messages.slice(first + 1, last + 1)
}

/** Takes whole messages from the end while they fit. At least the oldest is left for the summary. */
const splitRecent = (old: readonly Item[], keepTokens: number) => {
  let tokens = 0
  let first = old.length
  const texts: string[] = []
  while (first > 1) {
    const item = old[first - 1]
    const text = item === undefined ? "" : serializeItem(item)
    tokens += estimateText(text)
    if (tokens > keepTokens) break
    texts.unshift(text)
    first -= 1
  }
  return { summarized: old.slice(0, first), recent: texts.join("\n\n") }
}

const tokensOf = (estimator: Estimator, item: Item): number => {
  const { content, results } = estimator.item(item)
  return content + results
}

const LEAST_PROGRESS = 0.9
const FRUITLESS_IN_A_ROW = 2

/** Compactions that make no room stop until the history has grown on its own. */
export const isFruitless = (compactions: readonly CompactionProgress[], tokens: number): boolean => {
  const last = compactions.slice(-FRUITLESS_IN_A_ROW)
  if (last.length < FRUITLESS_IN_A_ROW) return false
  const stuck = last.every(({ before, after }) => after > before * LEAST_PROGRESS)
  return stuck && tokens < (last.at(-1)?.after ?? 0) * 1.1
}

/** More than one of the last three turns had a compaction, and this was not yet reported. */
export const isCrowded = ({ recent, isTold }: Pace): boolean =>
  !isTold && recent.filter((had) => had).length > 1

/** So many compactions without progress that a person decides whether to try another. */
export const leadsNowhere = ({ row }: Pace): boolean => row >= LIMITS.compactionsInARow

/** For people and the agent. */
export const CROWDED =
  "The conversation was compacted in more than one of the last three turns: results are too large for the context window of this model. Read less at a time: parts of files, narrower searches, shorter output."

export const compactionPause = ({ row }: Pace): Pause => ({
  kind: "compaction",
  text: `The conversation was compacted ${row} times in a row, and the work came no further. Go on with it?`,
  choices: [{ label: CONTINUE, description: "Compact again." }, STOP_CHOICE],
  other: false,
  multiple: false,
  detail: { compactions: row },
})

/** Serialises the old messages in pieces that fit a summariser. A message is cut only when it is too long for one piece. */
export const piecesOf = (items: readonly Item[], lead: string, pieceTokens: number): readonly string[] => {
  const pieces: string[] = []
  let current: string[] = lead === "" ? [] : [lead]
  let tokens = estimateText(lead)
  const flush = () => {
    if (current.length > 0) pieces.push(current.join("\n\n"))
    current = []
    tokens = 0
  }
  for (const item of items)
    for (const text of splitLong(serializeItem(item), pieceTokens)) {
      const size = estimateText(text)
      if (tokens + size > pieceTokens) flush()
      current.push(text)
      tokens += size
    }
  flush()
  return pieces
}

const splitLong = (text: string, mostTokens: number): readonly string[] => {
  if (estimateText(text) <= mostTokens) return [text]
  // A character is at most about one token, so these pieces always fit.
  const size = Math.max(200, mostTokens)
  const parts: string[] = []
  for (let start = 0; start < text.length; start += size) {
    const part = text.slice(start, start + size)
    // A cut may fall inside a line. The rest must not look like the start of a line.
    parts.push(start === 0 || text[start - 1] === "\n" ? part : quoted(part))
  }
  return parts
}
