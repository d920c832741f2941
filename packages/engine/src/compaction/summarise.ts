/** Asks a model for the summary of a compaction, piece by piece. What no model can summarise is extracted from the log. */
import type { CompactionReceipt, RecordedUsage, RequestSettings } from "@meridian/protocol"
import { Effect, Result } from "effect"

import { piecesOf, type CompactionPlan } from "../domain/compaction.ts"
import { extractSummary, judgeSummary, SUMMARY_PROMPT, summaryRequest } from "../domain/summary.ts"
import { estimateText } from "../domain/tokens.ts"
import { isRetryable, type Model, type ModelFailure } from "../port/model.ts"
import { askText, NO_USAGE, type SettingsValue, type TextAnswer } from "../session/index.ts"

export interface Summary {
  readonly summary: string
  readonly usage: RecordedUsage
  readonly method: NonNullable<CompactionReceipt["method"]>
  /** Why the model's answer was not used. */
  readonly fallback?: string
}

export interface SummaryScene {
  readonly sessionID: string
  readonly model: Model
  /** The settings of the variant that was named for summaries. */
  readonly asked: RequestSettings
  readonly plan: CompactionPlan
  readonly settings: SettingsValue["compaction"]
  /** The summary of an extension. When present, no model is asked. */
  readonly supplied: string | undefined
  /** Receives pieces of the summary as they arrive. */
  readonly onDelta: (delta: string) => void
}

const LEAST_PIECE_TOKENS = 200

/** Each answer becomes the previous checkpoint for the next piece. Never fails. */
export const summarise = (scene: SummaryScene): Effect.Effect<Summary> =>
  Effect.gen(function* () {
    const { model, plan, settings, supplied } = scene
    if (supplied !== undefined) return { summary: supplied, usage: NO_USAGE, method: "extension" }
    let usage = NO_USAGE
    let summary = plan.previous?.summary ?? ""
    const extract = (why: string): Summary => ({
      summary: extractSummary({
        previous: plan.previous?.summary ?? "",
        items: plan.summarized,
        mostTokens: plan.summaryTokens,
      }),
      usage,
      method: "extract",
      fallback: why,
    })
    const most = allowanceOf(scene)
    const instructions = estimateText(settings.prompt ?? SUMMARY_PROMPT)
    const room = model.contextWindow - most - Math.max(most, estimateText(summary)) - instructions - 200
    if (room < LEAST_PIECE_TOKENS) return extract("the window of the summarising model is too small")
    for (const piece of piecesOf(plan.summarized, plan.previous?.recent ?? "", Math.floor(room * 0.8))) {
      const answered = yield* Effect.result(ask(scene, summaryRequest(piece, summary)))
      if (Result.isFailure(answered)) return extract(answered.failure.message)
      usage = addUsage(usage, answered.success.usage)
      const verdict = judgeSummary(answered.success.text, most)
      if (verdict.kind === "refused") return extract(verdict.why)
      summary = verdict.summary
    }
    return { summary, usage, method: "model" }
  })

/** How long the summary may be: what the session has room for, and what the summarising model can write and still read. */
const allowanceOf = ({ model, plan }: SummaryScene): number =>
  Math.min(plan.summaryTokens, model.maxOutput, Math.floor(model.contextWindow / 6))

const ask = (scene: SummaryScene, text: string): Effect.Effect<TextAnswer, ModelFailure> => {
  const { sessionID, model, settings, asked, onDelta } = scene
  return askText({
    model,
    what: "the summary",
    timeoutMs: settings.timeoutMs,
    onDelta,
    request: {
      prompt: [
        { role: "system", content: settings.prompt ?? SUMMARY_PROMPT },
        { role: "user", content: [{ type: "text", text }] },
      ],
      tools: [],
      settings: { ...asked, maxOutputTokens: allowanceOf(scene) },
      sessionID,
    },
  }).pipe(Effect.retry({ times: 1, while: ({ facts }: ModelFailure) => isRetryable(facts.kind) }))
}

const addUsage = (left: RecordedUsage, right: RecordedUsage): RecordedUsage => ({
  input: left.input + right.input,
  output: left.output + right.output,
  reasoning: left.reasoning + right.reasoning,
  cacheRead: left.cacheRead + right.cacheRead,
  cacheWrite: left.cacheWrite + right.cacheWrite,
})
