/**
 * One turn of a drain: begin it, make room if needed, send the request. If the provider still finds it too large, compact
 * once and send once more.
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
import { Titles, wantsTitle } from "./titles.ts"

export type TurnTaken =
  | Exclude<Beginning, { readonly kind: "begun" }>
  /** The session waits for its provider. */
  | { readonly kind: "parked" }
  | { readonly kind: "taken"; readonly promoted: number; readonly resultsToShow: boolean }

export const takeTurn = (
  scene: TurnScene,
  occasion: Occasion,
): Effect.Effect<TurnTaken, Failure, Asking | Titles> =>
  Effect.gen(function* () {
    const update = yield* followContext(scene, newestPrompt(scene, occasion))
    const beginning = yield* beginTurn(scene, occasion, update)
    if (beginning.kind !== "begun") return beginning
    if (scene.location.troubles !== undefined) yield* noteTroubles(scene)
    const { promoted } = beginning
    const { session, settings } = scene
    if (settings.titles.model !== undefined && wantsTitle(session.transcript(), promoted))
      yield* Titles.use(({ begin }) => begin(session.id, session.transcript()))
    if (beginning.step === undefined) {
      if ((yield* makeRoom(scene)) === "paused") return { kind: "parked" } as const
      // The compaction has spent part of the budget, too.
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

/** The newest prompt selects the rules: the one about to become visible, otherwise the last visible one. */
const newestPrompt = ({ session, settings: { limits } }: TurnScene, { boundary }: Occasion): string =>
  choosePromotions(session.inputs(), boundary, limits.steerBatch).at(-1)?.prompt.text ??
  session.transcript().conversation.userTexts.at(-1) ??
  ""

/**
 * An interrupt may come after the step started and before any of it is under way. The store may have recorded the end
 * already and lost its answer.
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
