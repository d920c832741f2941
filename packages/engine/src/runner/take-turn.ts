import { messageId, type DurableEvent, type Failure } from "@meridian/protocol"
/**
 * One turn of a drain: the request is made to fit, sent, and when the provider still finds it too large it is compacted
 * once and sent once more.
 */
import { Effect } from "effect"

import { budgetOf } from "../domain/budget.ts"
import { isFruitless } from "../domain/compaction.ts"
import { planPrune } from "../domain/prune.ts"
import { attempt } from "./attempt.ts"
import type { Cast } from "./cast.ts"
import { compactSession } from "./compact.ts"
import type { Place, Runtime } from "./drain.ts"
import { ensureEpoch } from "./epochs.ts"
import { buildRequest, type BuiltRequest } from "./request.ts"
import type { Call } from "./tool-call.ts"
import { runTurn, type TurnOutcome } from "./turn.ts"

/** Whether the model has results to see. */
export const takeTurn = (runtime: Runtime, place: Place, cast: Cast): Effect.Effect<boolean, Failure> =>
  Effect.gen(function* () {
    const first = yield* sendTurn(runtime, place, cast, yield* fitRequest(runtime, place, cast))
    if (first.kind === "ended") return first.resultsToShow
    const recovered = yield* compactNow(runtime, place, cast, "overflow")
    if (recovered === "nothing") return yield* Effect.fail(first.failure)
    const second = yield* sendTurn(runtime, place, cast, build(runtime, place, cast))
    return second.kind === "ended" ? second.resultsToShow : yield* Effect.fail(second.failure)
  })

/** A compaction somebody asked for, at this safe boundary. */
export const compactOnRequest = (runtime: Runtime, place: Place, cast: Cast): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { transcript } = historyOf(runtime, place)
    if (!transcript.compactionRequested()) return
    const outcome = yield* compactNow(runtime, place, cast, "manual")
    if (outcome === "nothing")
      yield* append(runtime, place, [
        {
          type: "session.next.compaction.failed.1",
          data: {
            compactionID: runtime.world.id("cmp_"),
            error: { code: "NOTHING_TO_COMPACT", message: "There is no older turn that could be compacted." },
          },
        },
      ])
  })

/** New instruction files beside what a call has read. */
export const discoveries = (runtime: Runtime, place: Place, call: Call): readonly DurableEvent[] => {
  if (call.tool !== "read" || typeof call.input !== "object" || call.input === null) return []
  const path: unknown = Object.entries(call.input).find(
    ([name]) => name === "path" || name === "filePath",
  )?.[1]
  if (typeof path !== "string") return []
  const known = new Set(historyOf(runtime, place).transcript.discovered())
  return place.location
    .instructionsBeside(path)
    .filter((found) => !known.has(found))
    .map((found) => ({ type: "session.next.instruction.discovered.1", data: { path: found } }))
}

const historyOf = (runtime: Runtime, { sessionID, fence }: Place) =>
  runtime.histories.known({ id: sessionID, key: fence.key })

const build = (runtime: Runtime, place: Place, cast: Cast): BuiltRequest =>
  buildRequest(place.sessionID, historyOf(runtime, place), cast)

const append = (runtime: Runtime, { sessionID, fence }: Place, events: readonly DurableEvent[]) =>
  attempt(() => {
    runtime.store.log.write({ sessionID, durability: "NORMAL", fence }, (writing) => writing.append(events))
  })

const fitRequest = (runtime: Runtime, place: Place, cast: Cast): Effect.Effect<BuiltRequest, Failure> =>
  Effect.gen(function* () {
    const { compaction } = runtime.settings
    const budget = budgetOf(cast.model, compaction)
    const built = build(runtime, place, cast)
    if (!compaction.auto || built.tokens <= budget) return built
    if (compaction.prune) {
      const pruned = planPrune(historyOf(runtime, place).transcript.items, budget)
      if (pruned !== undefined) {
        const calls = pruned.calls.map(({ messageID, callID }) => ({
          assistantMessageID: messageId(messageID),
          callID,
        }))
        yield* append(runtime, place, [
          { type: "session.next.tool.pruned.1", data: { calls, tokens: pruned.tokens } },
        ])
        const lighter = build(runtime, place, cast)
        if (lighter.tokens <= budget) return lighter
      }
    }
    if (isFruitless(historyOf(runtime, place).transcript.compactions(), built.tokens)) return built
    yield* compactNow(runtime, place, cast, "auto")
    return build(runtime, place, cast)
  })

const compactNow = (runtime: Runtime, place: Place, cast: Cast, reason: "auto" | "overflow" | "manual") =>
  Effect.gen(function* () {
    const { tokens, overhead } = build(runtime, place, cast)
    const budget = budgetOf(cast.model, runtime.settings.compaction)
    const outcome = yield* compactSession(runtime, place, cast, { reason, tokens, overhead, budget })
    // The next request begins with a fresh baseline, brief included.
    if (outcome === "compacted") yield* ensureEpoch(runtime, place, cast)
    return outcome
  })

const sendTurn = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  { request }: BuiltRequest,
): Effect.Effect<TurnOutcome, Failure> => {
  const { sessionID, fence, directory } = place
  return runTurn({
    sessionID,
    fence,
    request,
    agent: cast.agent.name,
    rules: cast.rules,
    model: cast.model,
    tools: cast.tools,
    project: directory,
    retry: runtime.settings.retry,
    world: runtime.world,
    permissions: runtime.permissions,
    transcript: () => historyOf(runtime, place).transcript,
    append: (durability, events) => {
      runtime.store.log.write({ sessionID, durability, fence }, (writing) => writing.append(events))
    },
    publish: (event) => runtime.signals.publishLive(sessionID, event),
    consequences: (call) => discoveries(runtime, place, call),
  })
}
