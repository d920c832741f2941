/**
 * One turn of a drain: begun, made to fit where it must be, sent, and when the provider still finds it too large compacted
 * once and sent once more.
 */
import { messageId, type Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { compact, makeRoom, pauseWhenStuck } from "../compaction/index.ts"
import { choosePromotions } from "../domain/promotion.ts"
import { openStepOf } from "../domain/transcript/transcript.ts"
import { followContext, pauseWhenSpent, type TurnScene } from "../session/index.ts"
import type { Asking } from "./asking.ts"
import { beginTurn, startStep, type Beginning, type Occasion } from "./begin-turn.ts"
import { noteTroubles } from "./note-troubles.ts"
import { runTurn, stepStopped } from "./run-turn.ts"

export type TurnTaken =
  | Exclude<Beginning, { readonly kind: "begun" }>
  /** The session waits for its provider. */
  | { readonly kind: "parked" }
  | { readonly kind: "taken"; readonly promoted: number; readonly resultsToShow: boolean }

export const takeTurn = (scene: TurnScene, occasion: Occasion): Effect.Effect<TurnTaken, Failure, Asking> =>
  Effect.gen(function* () {
    const update = yield* followContext(scene, newestPrompt(scene, occasion))
    const beginning = yield* beginTurn(scene, occasion, update)
    if (beginning.kind !== "begun") return beginning
    if (scene.location.troubles !== undefined) yield* noteTroubles(scene)
    const { promoted } = beginning
    if (beginning.step === undefined) {
      if ((yield* makeRoom(scene)) === "paused") return { kind: "parked" } as const
      // The compaction has used up something, too.
      if (yield* pauseWhenSpent(scene)) return { kind: "parked" } as const
    }
    const first = yield* runTurn(scene, beginning.step ?? (yield* startStep(scene)))
    if (first.kind === "parked") return first
    if (first.kind === "ended")
      return { kind: "taken", promoted, resultsToShow: first.resultsToShow } as const
    if ((yield* pauseWhenSpent(scene)) || (yield* pauseWhenStuck(scene))) return { kind: "parked" } as const
    if ((yield* compact(scene, "overflow")) === "nothing") return yield* Effect.fail(first.failure)
    if (yield* pauseWhenSpent(scene)) return { kind: "parked" } as const
    const second = yield* runTurn(scene, yield* startStep(scene))
    if (second.kind === "overflow") return yield* Effect.fail(second.failure)
    if (second.kind === "parked") return second
    return { kind: "taken", promoted, resultsToShow: second.resultsToShow } as const
  }).pipe(Effect.onInterrupt(() => stopOpenStep(scene)))

/** Rules are chosen by the newest prompt: the one that is about to become visible, else the last one that did. */
const newestPrompt = ({ session, settings: { limits } }: TurnScene, { boundary }: Occasion): string =>
  choosePromotions(session.inputs(), boundary, limits.steerBatch).at(-1)?.prompt.text ??
  session.transcript().conversation.userTexts.at(-1) ??
  ""

/**
 * An interrupt may come when the step was started and nothing of it is under way. Its end may be stored already, by a store
 * whose answer got lost.
 */
const stopOpenStep = ({ session }: TurnScene): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    if (openStepOf(session.transcript()) === undefined) return Effect.void
    return session.decide((transcript) => {
      const open = openStepOf(transcript)
      return {
        kind: "append",
        events: open === undefined ? [] : [stepStopped(messageId(open.id))],
        answer: () => undefined,
      }
    })
  })
