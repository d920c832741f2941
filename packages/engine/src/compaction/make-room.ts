/** When a session is compacted: before a request that may not fit, and on request. */
import { messageId, type Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { budgetOf } from "../domain/budget.ts"
import { compactionPause, isFruitless, leadsNowhere } from "../domain/compaction.ts"
import { planPrune } from "../domain/prune.ts"
import { pauseAsked } from "../domain/question.ts"
import { weighRequest, type TurnScene } from "../session/index.ts"
import { compact } from "./compact.ts"

/**
 * Makes room before a step starts. Old results go first, then one compaction. "paused": a person is asked whether to
 * compact again.
 */
export const makeRoom = (scene: TurnScene): Effect.Effect<"paused" | "done", Failure> =>
  Effect.gen(function* () {
    const { session, cast } = scene
    const { compaction } = scene.settings
    const budget = budgetOf(cast.window, compaction)
    const tokens = weighRequest(session.history(), cast).request
    if (!compaction.auto || tokens <= budget) return "done"
    if (compaction.prune && (yield* prune(scene, budget))) return "done"
    if (isFruitless(session.transcript().compactions.completed, tokens)) return "done"
    if (yield* pauseWhenStuck(scene)) return "paused"
    yield* compact(scene, "auto")
    return "done"
  })

/** True: a person was asked, and the session waits. */
export const pauseWhenStuck = ({ session }: TurnScene): Effect.Effect<boolean, Failure> =>
  Effect.suspend(() => {
    const { pace } = session.transcript().compactions
    if (!leadsNowhere(pace)) return Effect.succeed(false)
    return Effect.as(session.append([pauseAsked(session.newQuestion(), compactionPause(pace))]), true)
  })

/** True when pruning was enough. */
const prune = ({ session, cast }: TurnScene, budget: number): Effect.Effect<boolean, Failure> =>
  Effect.gen(function* () {
    const plan = planPrune(session.transcript().conversation.items, budget, cast.traitsOf)
    if (plan === undefined) return false
    const calls = plan.calls.map(({ messageID, callID }) => ({
      assistantMessageID: messageId(messageID),
      callID,
    }))
    yield* session.append([{ type: "session.next.tool.pruned.1", data: { calls, tokens: plan.tokens } }])
    return weighRequest(session.history(), cast).request <= budget
  })

/** Runs a requested compaction at this safe boundary. */
export const compactOnRequest = (scene: TurnScene): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const { requested } = scene.session.transcript().compactions
    return requested ? answerRequest(scene) : Effect.void
  })

const answerRequest = (scene: TurnScene): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { session } = scene
    if ((yield* compact(scene, "manual")) === "compacted") return
    const error = {
      code: "NOTHING_TO_COMPACT",
      message: "There is no older turn that could be compacted.",
    }
    yield* session.append([
      {
        type: "session.next.compaction.failed.1",
        data: { compactionID: session.newCompaction(), error },
      },
    ])
  })
