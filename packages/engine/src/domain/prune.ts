/** Old tool results that may be pruned to make room. Deterministic. The newest results and skills are protected. */
import { estimateContent, estimateText } from "./tokens.ts"
import type { TraitsOf } from "./tool-traits.ts"
import type { Item } from "./transcript/items.ts"

export interface PruneDecision {
  readonly calls: readonly { readonly messageID: string; readonly callID: string }[]
  readonly tokens: number
}

/** Results are kept, newest first, until they use this share of the budget. */
const KEPT_SHARE = 0.4
/** Pruning breaks the cached prefix of the prompt, so it must free at least this share. */
const LEAST_SHARE = 0.1

export const planPrune = (
  items: readonly Item[],
  budget: number,
  traitsOf: TraitsOf,
): PruneDecision | undefined => {
  const calls: { messageID: string; callID: string }[] = []
  let kept = 0
  let tokens = 0
  const newestTurn = items.findLast((item) => item.kind === "assistant")
  for (const item of items.toReversed()) {
    if (item.kind !== "assistant") continue
    for (const part of item.parts.toReversed()) {
      if (part.type !== "tool" || part.pruned === true || traitsOf(part.tool).keepsResults === true) continue
      if (part.outcome?.kind !== "success") continue
      const size = part.hosted
        ? estimateText(JSON.stringify(part.outcome.result ?? null))
        : estimateContent(part.outcome.content)
      if (item === newestTurn || kept + size <= budget * KEPT_SHARE) kept += size
      else {
        calls.unshift({ messageID: item.id, callID: part.callID })
        tokens += size
      }
    }
  }
  return tokens >= budget * LEAST_SHARE && calls.length > 0 ? { calls, tokens } : undefined
}
