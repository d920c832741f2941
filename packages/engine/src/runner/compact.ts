import {
  type Failure,
  type CompactionReason,
  type DurableEvent,
  type RecordedUsage,
} from "@meridian/protocol"
/**
 * One compaction attempt: recorded when it starts, and always ended, by a checkpoint or by a failure. The model call is the
 * only part that can fail; when it does, the checkpoint is extracted from the log instead, and says so.
 */
import { Effect, Result } from "effect"

import { keepTokensOf } from "../domain/budget.ts"
import { piecesOf, planCompaction, type CompactionPlan } from "../domain/compaction.ts"
import { LIMITS } from "../domain/limits.ts"
import { checkQuotes } from "../domain/quotes.ts"
import { extractSummary, judgeSummary, SUMMARY_PROMPT, summaryRequest } from "../domain/summary.ts"
import { estimateText } from "../domain/tokens.ts"
import { ledgerFacts } from "../domain/transcript/ledger.ts"
import { costOf } from "../model/cost.ts"
import { isRetryable, ModelFailure, type Model } from "../port/model.ts"
import { attempt, attemptNow } from "./attempt.ts"
import { resolveModel, type Cast } from "./cast.ts"
import type { Place, Runtime } from "./drain.ts"

export type CompactionOutcome = "compacted" | "nothing"

export const compactSession = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  why: {
    readonly reason: CompactionReason
    readonly tokens: number
    readonly overhead: number
    readonly budget: number
  },
): Effect.Effect<CompactionOutcome, Failure> =>
  Effect.gen(function* () {
    const { settings, histories, world } = runtime
    const { sessionID, fence } = place
    const history = histories.known({ id: sessionID, key: fence.key })
    const { budget, overhead, reason } = why
    const decision = planCompaction({
      items: history.transcript.conversation.items,
      estimator: history.estimator,
      budget,
      overhead,
      keepTokens: keepTokensOf(budget, settings.compaction),
    })
    if (decision.kind === "nothing") return "nothing"
    const { plan } = decision
    const model = yield* attemptNow(() => resolveModel(settings, settings.compaction.model ?? cast.model.id))
    const compactionID = world.id("cmp_")
    const append = (event: DurableEvent) => attempt(() => runtime.store.log.append(place, [event]))
    yield* append({
      type: "session.next.compaction.started.1",
      data: { compactionID, reason, model: model.id, tokens: why.tokens },
    })
    const written = yield* summarize(runtime, { sessionID, compactionID, model, plan }).pipe(
      Effect.onInterrupt(() =>
        append({
          type: "session.next.compaction.failed.1",
          data: { compactionID, error: { code: "INTERRUPTED", message: "The compaction was interrupted." } },
        }).pipe(Effect.ignore),
      ),
    )
    const { summary, removed } = checkQuotes(written.summary, history.transcript.conversation.userTexts)
    const after = overhead + plan.keptTokens + estimateText(summary) + estimateText(plan.recent)
    yield* append({
      type: "session.next.compaction.ended.2",
      data: {
        compactionID,
        reason,
        method: written.fallback === undefined ? "model" : "extract",
        summary,
        recent: plan.recent,
        range: plan.range,
        kept: plan.kept,
        messages: plan.messages,
        tokens: { before: why.tokens, after },
        usage: written.usage,
        cost: costOf(written.usage, model.price),
        removedQuotes: removed,
        facts: ledgerFacts(history.transcript.ledger)
          .slice(-LIMITS.receiptFacts)
          .map(({ kind, text, source }) => ({ kind, text, source })),
        ...(written.fallback === undefined ? {} : { fallback: written.fallback }),
      },
    })
    return "compacted"
  })

interface Written {
  readonly summary: string
  readonly usage: RecordedUsage
  /** Why the model's answer was not used. */
  readonly fallback?: string
}

interface SummaryScene {
  readonly sessionID: string
  readonly compactionID: string
  readonly model: Model
  readonly plan: CompactionPlan
}

/** What the summary may have: what the session has room for, and what the summarising model can write and still read. */
const summaryAllowance = ({ model, plan }: SummaryScene): number =>
  Math.min(plan.summaryTokens, model.maxOutput, Math.floor(model.contextWindow / 6))

const LEAST_PIECE_TOKENS = 200

const NO_USAGE: RecordedUsage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

/** Piece by piece, each answer the previous checkpoint of the next. Never fails: what a model cannot do is extracted. */
const summarize = (runtime: Runtime, scene: SummaryScene): Effect.Effect<Written> =>
  Effect.gen(function* () {
    const { model, plan } = scene
    let usage = NO_USAGE
    let summary = plan.previous?.summary ?? ""
    const extract = (why: string): Written => ({
      summary: extractSummary({
        previous: plan.previous?.summary ?? "",
        items: plan.summarized,
        mostTokens: plan.summaryTokens,
      }),
      usage,
      fallback: why,
    })
    const most = summaryAllowance(scene)
    const instructions = estimateText(runtime.settings.compaction.prompt ?? SUMMARY_PROMPT)
    const room = model.contextWindow - most - Math.max(most, estimateText(summary)) - instructions - 200
    if (room < LEAST_PIECE_TOKENS) return extract("the window of the summarising model is too small")
    const pieces = piecesOf(plan.summarized, plan.previous?.recent ?? "", Math.floor(room * 0.8))
    for (const piece of pieces) {
      const answered = yield* Effect.result(askForSummary(runtime, scene, summaryRequest(piece, summary)))
      if (Result.isFailure(answered)) return extract(answered.failure.message)
      usage = addUsage(usage, answered.success.usage)
      const verdict = judgeSummary(answered.success.text, most)
      if (verdict.kind === "refused") return extract(verdict.why)
      summary = verdict.summary
    }
    return { summary, usage }
  })

interface Answer {
  readonly text: string
  readonly usage: RecordedUsage
}

const askForSummary = (
  runtime: Runtime,
  scene: SummaryScene,
  text: string,
): Effect.Effect<Answer, ModelFailure> =>
  Effect.callback<Answer, ModelFailure>((resume) => {
    const controller = new AbortController()
    void readAnswer(runtime, scene, text, controller.signal).then(
      (answer) => resume(Effect.succeed(answer)),
      (cause: unknown) => resume(Effect.fail(asModelFailure(cause))),
    )
    return Effect.sync(() => controller.abort())
  }).pipe(
    Effect.timeoutOrElse({
      duration: runtime.settings.compaction.timeoutMs,
      orElse: () =>
        Effect.fail(new ModelFailure({ kind: "transport", message: "the summary took too long" })),
    }),
    Effect.retry({ times: 1, while: (failure: ModelFailure) => isRetryable(failure.facts.kind) }),
  )

const readAnswer = async (
  runtime: Runtime,
  scene: SummaryScene,
  text: string,
  signal: AbortSignal,
): Promise<Answer> => {
  const { sessionID, compactionID, model } = scene
  const chunks: string[] = []
  let usage = NO_USAGE
  const events = model.stream(
    {
      prompt: [
        { role: "system", content: runtime.settings.compaction.prompt ?? SUMMARY_PROMPT },
        { role: "user", content: [{ type: "text", text }] },
      ],
      tools: [],
      maxOutputTokens: summaryAllowance(scene),
      sessionID,
    },
    signal,
  )
  for await (const event of events) {
    if (event.type === "text-delta") {
      chunks.push(event.delta)
      runtime.signals.publishLive(sessionID, {
        type: "compaction.delta",
        data: { compactionID, delta: event.delta },
      })
    }
    if (event.type === "finish") usage = event.usage
  }
  return { text: chunks.join(""), usage }
}

const asModelFailure = (cause: unknown): ModelFailure => {
  if (cause instanceof ModelFailure) return cause
  return new ModelFailure({
    kind: "unknown",
    message: cause instanceof Error ? cause.message : String(cause),
  })
}

const addUsage = (left: RecordedUsage, right: RecordedUsage): RecordedUsage => ({
  input: left.input + right.input,
  output: left.output + right.output,
  reasoning: left.reasoning + right.reasoning,
  cacheRead: left.cacheRead + right.cacheRead,
  cacheWrite: left.cacheWrite + right.cacheWrite,
})
