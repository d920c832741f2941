/**
 * One turn of a drain: begun, made to fit where it must be, sent, and when the provider still finds it too large compacted
 * once and sent once more.
 */
import { messageId, type DurableEvent, type Failure, type MessageId } from "@meridian/protocol"
import { Effect } from "effect"

import { budgetOf } from "../domain/budget.ts"
import { isFruitless } from "../domain/compaction.ts"
import { choosePromotions } from "../domain/promotion.ts"
import { planPrune } from "../domain/prune.ts"
import { openStepOf } from "../domain/transcript/transcript.ts"
import { attempt, attemptSoon } from "./attempt.ts"
import { beginTurn, inputsToRun, stepStarted, type Beginning, type Occasion } from "./begin-turn.ts"
import type { Cast } from "./cast.ts"
import { compactSession } from "./compact.ts"
import type { Place, Runtime } from "./drain.ts"
import { ensureEpoch, followContext } from "./epochs.ts"
import { buildRequest, weighRequest, type Weight } from "./request.ts"
import type { Call } from "./tool-call.ts"
import { runTurn, stepStopped, type TurnOutcome } from "./turn.ts"

export type TurnTaken =
  | Exclude<Beginning, { readonly kind: "begun" }>
  | { readonly kind: "taken"; readonly promoted: number; readonly resultsToShow: boolean }

export const takeTurn = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  occasion: Occasion,
): Effect.Effect<TurnTaken, Failure> =>
  Effect.gen(function* () {
    const prompt = comingPrompt(runtime, place, occasion) ?? lastPrompt(runtime, place)
    const update = yield* followContext(runtime, place, cast, prompt)
    const beginning = yield* attemptSoon(() => beginTurn(runtime, place, cast, { ...occasion, update }))
    if (beginning.kind !== "begun") return beginning
    const { promoted, step } = beginning
    if (step === undefined) yield* makeRoom(runtime, place, cast)
    const first = yield* sendTurn(runtime, place, cast, step ?? (yield* startStep(runtime, place, cast)))
    if (first.kind === "ended")
      return { kind: "taken", promoted, resultsToShow: first.resultsToShow } as const
    const recovered = yield* compactNow(runtime, place, cast, "overflow")
    if (recovered === "nothing") return yield* Effect.fail(first.failure)
    const second = yield* sendTurn(runtime, place, cast, yield* startStep(runtime, place, cast))
    if (second.kind === "overflow") return yield* Effect.fail(second.failure)
    return { kind: "taken", promoted, resultsToShow: second.resultsToShow } as const
  }).pipe(Effect.onInterrupt(() => stopOpenStep(runtime, place)))

/** Rules are chosen by the newest prompt: the one that is about to become visible, else the last one that did. */
const comingPrompt = (runtime: Runtime, place: Place, { boundary }: Occasion): string | undefined => {
  const waiting = inputsToRun(runtime, place.sessionID, historyOf(runtime, place).transcript)
  return choosePromotions(waiting, boundary, runtime.settings.limits.steerBatch).at(-1)?.prompt.text
}

const lastPrompt = (runtime: Runtime, place: Place): string =>
  historyOf(runtime, place).transcript.conversation.userTexts.at(-1) ?? ""

const startStep = (runtime: Runtime, place: Place, cast: Cast): Effect.Effect<MessageId, Failure> => {
  const step = messageId(runtime.world.id("msg_"))
  return Effect.as(append(runtime, place, [stepStarted(step, cast)]), step)
}

/** An interrupt may come when the step was started and nothing of it is under way. */
const stopOpenStep = (runtime: Runtime, place: Place): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const open = openStepOf(historyOf(runtime, place).transcript)
    return open === undefined ? Effect.void : append(runtime, place, [stepStopped(messageId(open.id))])
  })

/** A compaction somebody asked for, at this safe boundary. */
export const compactOnRequest = (runtime: Runtime, place: Place, cast: Cast): Effect.Effect<void, Failure> =>
  historyOf(runtime, place).transcript.compactions.requested
    ? compactRequested(runtime, place, cast)
    : Effect.void

const compactRequested = (runtime: Runtime, place: Place, cast: Cast): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
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
  const known = new Set(historyOf(runtime, place).transcript.surroundings.discovered)
  return place.location
    .instructionsBeside(path)
    .filter((found) => !known.has(found))
    .map((found) => ({ type: "session.next.instruction.discovered.1", data: { path: found } }))
}

const historyOf = (runtime: Runtime, { sessionID, fence }: Place) =>
  runtime.histories.known({ id: sessionID, key: fence.key })

const append = ({ store }: Runtime, place: Place, events: readonly DurableEvent[]) =>
  attempt(() => store.log.append(place, events))

/** Before a step is started: old results go first, then one compaction. */
const makeRoom = (runtime: Runtime, place: Place, cast: Cast): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { compaction } = runtime.settings
    const budget = budgetOf(cast.model, compaction)
    const tokens = weigh(runtime, place, cast).request
    if (!compaction.auto || tokens <= budget) return
    if (compaction.prune) {
      const pruned = planPrune(historyOf(runtime, place).transcript.conversation.items, budget)
      if (pruned !== undefined) {
        const calls = pruned.calls.map(({ messageID, callID }) => ({
          assistantMessageID: messageId(messageID),
          callID,
        }))
        yield* append(runtime, place, [
          { type: "session.next.tool.pruned.1", data: { calls, tokens: pruned.tokens } },
        ])
        if (weigh(runtime, place, cast).request <= budget) return
      }
    }
    if (isFruitless(historyOf(runtime, place).transcript.compactions.completed, tokens)) return
    yield* compactNow(runtime, place, cast, "auto")
  })

const weigh = (runtime: Runtime, place: Place, cast: Cast): Weight =>
  weighRequest(historyOf(runtime, place), cast)

const compactNow = (runtime: Runtime, place: Place, cast: Cast, reason: "auto" | "overflow" | "manual") =>
  Effect.gen(function* () {
    const { request: tokens, overhead } = weigh(runtime, place, cast)
    const budget = budgetOf(cast.model, runtime.settings.compaction)
    const outcome = yield* compactSession(runtime, place, cast, { reason, tokens, overhead, budget })
    // The next request begins with a fresh baseline, brief included.
    if (outcome === "compacted") yield* ensureEpoch(runtime, place, cast, lastPrompt(runtime, place))
    return outcome
  })

const sendTurn = (
  runtime: Runtime,
  place: Place,
  cast: Cast,
  assistantMessageID: MessageId,
): Effect.Effect<TurnOutcome, Failure> => {
  const { sessionID, fence, directory } = place
  return runTurn({
    sessionID,
    fence,
    assistantMessageID,
    request: buildRequest(sessionID, historyOf(runtime, place), cast),
    agent: cast.agent.name,
    rules: cast.rules,
    model: cast.model,
    tools: cast.tools,
    project: directory,
    retry: runtime.settings.retry,
    world: runtime.world,
    permissions: runtime.permissions,
    transcript: () => historyOf(runtime, place).transcript,
    append: (events) => runtime.store.log.append(place, events),
    intend: (events) => {
      runtime.store.log.append(place, events)
      return runtime.store.database.synced({ inPlace: runtime.store.leases.atWork() === 1 })
    },
    appendSoon: (events) => runtime.store.log.appendSoon(place, events),
    publish: (event) => runtime.signals.publishLive(sessionID, event),
    consequences: (call) => discoveries(runtime, place, call),
  })
}
