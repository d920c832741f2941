import { Failure, messageId, type DurableEvent } from "@meridian/protocol"
/**
 * Keeps the model's privileged context true: a first complete baseline before any prompt is visible, one chronological
 * message when something changed, a fresh baseline after a compaction.
 */
import { Effect } from "effect"

import { initialize, rebaseline, reconcile, type Observation } from "../domain/context.ts"
import type { ObservationScene } from "../port/context-source.ts"
import { attempt } from "./attempt.ts"
import type { Cast } from "./cast.ts"
import type { Place, Runtime } from "./drain.ts"

/** Before promotion. Says what was observed, so that the same boundary does not look twice. */
export const ensureEpoch = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
): Effect.Effect<Observation | undefined, Failure> =>
  Effect.gen(function* () {
    const { transcript } = runtime.histories.known({ id: place.sessionID, key: place.fence.key })
    const epoch = transcript.epoch()
    const atCompaction = epoch !== undefined && transcript.compactedSeq() > epoch.seq
    if (epoch !== undefined && !atCompaction) return undefined
    if (runtime.store.log.head(place.sessionID).directory !== place.directory) return undefined
    const observation = yield* observe(runtime, place, cast, atCompaction)
    const decision = epoch === undefined ? initialize(observation) : rebaseline(epoch.snapshot, observation)
    if (decision.kind === "baseline") {
      const { baseline, snapshot } = decision
      yield* append(runtime, place, {
        type: "session.next.epoch.started.1",
        data: { baseline, snapshot, cause: epoch === undefined ? "first" : "compaction" },
      })
      return observation
    }
    // After a compaction the old baseline and its updates stay in force until everything is known again.
    if (epoch !== undefined) return undefined
    return yield* Effect.fail(
      new Failure("CONTEXT_UNAVAILABLE", { session: place.sessionID, keys: decision.keys.join(", ") }),
    )
  })

/** After promotion, just before the request. */
export const reconcileContext = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  observed: Observation | undefined,
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { transcript } = runtime.histories.known({ id: place.sessionID, key: place.fence.key })
    const epoch = transcript.epoch()
    if (epoch === undefined) return
    const observation = observed ?? (yield* observe(runtime, place, cast, false))
    const decision = reconcile(epoch.snapshot, observation)
    if (decision.kind === "unchanged") return
    const { text, changed, removed } = decision
    yield* append(runtime, place, {
      type: "session.next.context.updated.1",
      data: { messageID: messageId(runtime.world.id("msg_")), text, changed, removed },
    })
  })

const observe = (runtime: Runtime, place: Place, cast: Cast, atCompaction: boolean) => {
  const { transcript, ledger } = runtime.histories.known({ id: place.sessionID, key: place.fence.key })
  const scene: ObservationScene = {
    model: cast.model.id,
    agent: cast.agent.name,
    rules: cast.rules,
    discovered: transcript.discovered(),
    workingSet: ledger.workingSet(),
    prompt: transcript.userTexts().at(-1) ?? "",
    tools: cast.advertisements.map((tool) => tool.name),
    facts: ledger.facts,
    atCompaction,
  }
  return Effect.promise(() => place.location.context.observe(scene))
}

/** A session that has moved meanwhile is told nothing about the place it left; the promotion will notice. */
const append = (runtime: Runtime, { sessionID, fence, directory }: Place, event: DurableEvent) =>
  attempt(() => {
    runtime.store.log.write({ sessionID, durability: "NORMAL", fence }, ({ session, append: store }) => {
      if (session.directory === directory) store([event])
    })
  })
