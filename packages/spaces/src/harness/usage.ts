import type { Usage } from "../port/harness.ts"

export const NO_USAGE: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }

/** The sum has a cost if either side has one: a free step and an unpriced one look the same. */
export const addUsage = (left: Usage, right: Usage): Usage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  ...(left.costUsd === undefined && right.costUsd === undefined
    ? {}
    : { costUsd: (left.costUsd ?? 0) + (right.costUsd ?? 0) }),
})

/** What a run used, from two totals of its session. If a total went down, the harness started it anew. */
export const usageSince = (before: Usage, after: Usage): Usage => ({
  inputTokens: since(before.inputTokens, after.inputTokens),
  cachedInputTokens: since(before.cachedInputTokens, after.cachedInputTokens),
  outputTokens: since(before.outputTokens, after.outputTokens),
})

const since = (before: number, after: number): number => (after < before ? after : after - before)
