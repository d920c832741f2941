/** One compaction. Its start is recorded, and it always ends with a checkpoint or a failure. */
import { checkQuotes, ledgerFacts } from "@meridian/continuity/ledger"
import type { CompactionReason, Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { budgetOf, keepTokensOf } from "../domain/budget.ts"
import { planCompaction } from "../domain/compaction.ts"
import { costOf } from "../domain/cost.ts"
import { LIMITS } from "../domain/limits.ts"
import { estimateText } from "../domain/tokens.ts"
import { ledgerState } from "../domain/transcript/ledger.ts"
import { ensureEpoch, findModel, weighRequest, type TurnScene } from "../session/index.ts"
import { askExtensions } from "./ask-extensions.ts"
import { summarise } from "./summarise.ts"

export type CompactionOutcome = "compacted" | "nothing"

/** Replaces old turns with a checkpoint. The next request then begins with a fresh baseline, brief included. */
export const compact = (
  scene: TurnScene,
  reason: CompactionReason,
): Effect.Effect<CompactionOutcome, Failure> =>
  Effect.gen(function* () {
    const { session, cast, settings } = scene
    const history = session.history()
    const { request: tokens, overhead } = weighRequest(history, cast)
    const budget = budgetOf(cast.window, settings.compaction)
    const decision = planCompaction({
      items: history.transcript.conversation.items,
      estimator: history.estimator,
      budget,
      overhead,
      keepTokens: keepTokensOf(budget, settings.compaction),
    })
    if (decision.kind === "nothing") return "nothing"
    const { plan } = decision
    const { model, settings: asked } = yield* findModel(settings, settings.compaction.model ?? cast.model.id)
    const supplied = yield* askExtensions(scene, reason, plan)
    const compactionID = session.newCompaction()
    const weighed = history.estimator.doubted(history.transcript, { model: cast.model.id, overhead })
    yield* session.append([
      {
        type: "session.next.compaction.started.1",
        data: {
          compactionID,
          reason,
          model: model.id,
          tokens,
          ...(weighed === undefined ? {} : { weighed }),
        },
      },
    ])
    const written = yield* summarise({
      supplied,
      sessionID: session.id,
      model,
      asked,
      plan,
      settings: settings.compaction,
      onDelta: (delta) => session.publish({ type: "compaction.delta", data: { compactionID, delta } }),
    }).pipe(Effect.onInterrupt(() => Effect.ignore(session.append([interrupted(compactionID)]))))
    const { conversation, ledger } = session.transcript()
    const { summary, removed } = checkQuotes(written.summary, conversation.userTexts)
    const after = overhead + plan.keptTokens + estimateText(summary) + estimateText(plan.recent)
    yield* session.append([
      {
        type: "session.next.compaction.ended.2",
        data: {
          compactionID,
          reason,
          method: written.method,
          summary,
          recent: plan.recent,
          range: plan.range,
          kept: plan.kept,
          messages: plan.messages,
          tokens: { before: tokens, after },
          usage: written.usage,
          cost: costOf(written.usage, model.price),
          removedQuotes: removed,
          facts: ledgerFacts(ledgerState(ledger))
            .slice(-LIMITS.receiptFacts)
            .map(({ kind, text, source }) => ({ kind, text, source })),
          ...(written.fallback === undefined ? {} : { fallback: written.fallback }),
        },
      },
    ])
    yield* ensureEpoch(scene, conversation.userTexts.at(-1) ?? "")
    return "compacted"
  })

const interrupted = (compactionID: string) =>
  ({
    type: "session.next.compaction.failed.1",
    data: { compactionID, error: { code: "INTERRUPTED", message: "The compaction was interrupted." } },
  }) as const
