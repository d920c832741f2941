/** Asks extensions for a summary instead of a model. */
import type { CompactionReason, Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { piecesOf, type CompactionPlan } from "../domain/compaction.ts"
import { judgeSummary } from "../domain/summary.ts"
import { noteFailures, type TurnScene } from "../session/index.ts"

export const askExtensions = (
  { session, cast }: TurnScene,
  reason: CompactionReason,
  { previous, summarized, summaryTokens }: CompactionPlan,
): Effect.Effect<string | undefined, Failure> =>
  Effect.suspend(() => {
    const { onCompaction } = cast.hooks ?? {}
    if (onCompaction === undefined) return Effect.succeed(undefined)
    const conversation = piecesOf(summarized, previous?.recent ?? "", Number.MAX_SAFE_INTEGER).join("\n\n")
    const asked = onCompaction({
      sessionID: session.id,
      reason,
      previous: previous?.summary ?? "",
      conversation,
      mostTokens: summaryTokens,
    })
    return Effect.flatMap(asked, ({ value, failures }) => {
      if (value === undefined) return Effect.as(noteFailures(session, failures), undefined)
      const verdict = judgeSummary(value.summary, summaryTokens)
      if (verdict.kind === "accepted") return Effect.as(noteFailures(session, failures), verdict.summary)
      const refused = { extension: value.by, hook: "onCompaction", message: verdict.why }
      return Effect.as(noteFailures(session, [...failures, refused]), undefined)
    })
  })
