/**
 * Keeps the model's privileged context true: a first complete baseline before any prompt is visible, one chronological
 * message when something changed, a fresh baseline after a compaction.
 */
import { Failure, messageId, type DurableEvent } from "@meridian/protocol"
import { Effect, identity } from "effect"

import { initialize, rebaseline, reconcile, type Observation } from "../domain/context.ts"
import { ledgerFacts, workingSet } from "../domain/transcript/ledger.ts"
import { hasBaseline } from "../domain/transcript/transcript.ts"
import type { ObservationScene } from "../port/context-source.ts"
import { attempt } from "./attempt.ts"
import type { Cast } from "./cast.ts"
import type { Place, Runtime } from "./drain.ts"
import { eventually } from "./eventually.ts"

export type ContextUpdate = Extract<DurableEvent, { readonly type: "session.next.context.updated.1" }>

/** At a boundary: a first baseline before any prompt is visible, a fresh one after a compaction, else what has changed. */
export const followContext = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  prompt: string,
): Effect.Effect<ContextUpdate | undefined, Failure> =>
  hasBaseline(historyOf(runtime, place).transcript)
    ? followEpoch(runtime, place, cast, prompt)
    : Effect.flatMap(startEpoch(runtime, place, cast, prompt), (observed) =>
        observed === undefined
          ? followEpoch(runtime, place, cast, prompt)
          : Effect.succeed(updateSince(runtime, place, observed)),
      )

const followEpoch = (runtime: Runtime, place: Place, cast: Cast, prompt: string) =>
  historyOf(runtime, place).transcript.surroundings.epoch === undefined
    ? Effect.succeed(undefined)
    : eventually(observe(runtime, place, cast, { prompt, atCompaction: false }), (observed) =>
        updateSince(runtime, place, observed),
      )

/** What to tell of what was observed; nothing when it is what was told last. */
const updateSince = (runtime: Runtime, place: Place, observed: Observation): ContextUpdate | undefined => {
  const epoch = historyOf(runtime, place).transcript.surroundings.epoch
  if (epoch === undefined) return undefined
  const decision = reconcile(epoch.snapshot, observed)
  if (decision.kind === "unchanged") return undefined
  const { text, changed, removed } = decision
  return {
    type: "session.next.context.updated.1",
    data: { messageID: messageId(runtime.world.id("msg_")), text, changed, removed },
  }
}

/** A fresh baseline where none is in force. */
export const ensureEpoch = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  prompt: string,
): Effect.Effect<void, Failure> =>
  hasBaseline(historyOf(runtime, place).transcript)
    ? Effect.void
    : Effect.asVoid(startEpoch(runtime, place, cast, prompt))

/** Says what was observed for a new baseline, so that the same boundary does not look twice. */
const startEpoch = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  prompt: string,
): Effect.Effect<Observation | undefined, Failure> =>
  Effect.gen(function* () {
    const { transcript } = historyOf(runtime, place)
    const { epoch } = transcript.surroundings
    // Also in a new place: the checkpoint is still all that the model has of the work before it.
    const atCompaction = transcript.compactions.seq > 0
    if (runtime.store.log.head(place.sessionID).directory !== place.directory) return undefined
    const observation = yield* eventually(observe(runtime, place, cast, { prompt, atCompaction }), identity)
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

const historyOf = (runtime: Runtime, { sessionID, fence }: Place) =>
  runtime.histories.known({ id: sessionID, key: fence.key })

const observe = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  occasion: Pick<ObservationScene, "prompt" | "atCompaction">,
) => {
  const { surroundings, ledger } = historyOf(runtime, place).transcript
  const scene: ObservationScene = {
    ...occasion,
    model: cast.model.id,
    agent: cast.agent.name,
    rules: cast.rules,
    discovered: surroundings.discovered,
    workingSet: workingSet(ledger),
    tools: cast.advertisements.map((tool) => tool.name),
    facts: () => ledgerFacts(ledger),
  }
  return place.location.context.observe(scene)
}

/** A session that has moved meanwhile is told nothing about the place it left; the promotion will notice. */
const append = (runtime: Runtime, { sessionID, fence, directory }: Place, event: DurableEvent) =>
  attempt(() => {
    runtime.store.log.write({ sessionID, durability: "NORMAL", fence }, ({ session, append: store }) => {
      if (session.directory === directory) store([event])
    })
  })
