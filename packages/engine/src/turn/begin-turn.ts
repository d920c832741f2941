/**
 * Opens a turn in one append: the inputs that become visible, what changed around them and, when there is plainly room
 * for all of it, the step itself. Where room must be made first, the step is started by itself afterwards.
 */
import { messageId, type DurableEvent, type Failure, type MessageId } from "@meridian/protocol"
import { Effect } from "effect"

import { budgetOf, estimatePrompt, surelyFits } from "../domain/budget.ts"
import { outlookOf } from "../domain/outlook.ts"
import type { Boundary, PendingInput } from "../domain/promotion.ts"
import { STEERED } from "../domain/reminder.ts"
import { estimateText } from "../domain/tokens.ts"
import type { WaitingInput } from "../domain/transcript/inbox.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import {
  isOutdated,
  weighRequest,
  type Cast,
  type ContextUpdate,
  type Decision,
  type TurnScene,
} from "../session/index.ts"

/** Why there may be a turn now. */
export interface Occasion {
  readonly boundary: Boundary
  /** Turns of this drain since input was last promoted. */
  readonly turns: number
  /** Also without new input: it was asked for, or the model has results to see. */
  readonly due: boolean
}

export type Beginning =
  /** The session is somewhere else by now; nothing was written. */
  | { readonly kind: "moved" }
  /** Its agent or model was switched since the cast was chosen; nothing was written. */
  | { readonly kind: "recast" }
  | { readonly kind: "nothing" }
  /** `step`: already started, under this id. */
  | { readonly kind: "begun"; readonly promoted: number; readonly step: MessageId | undefined }

export const beginTurn = (
  scene: TurnScene,
  occasion: Occasion,
  update: ContextUpdate | undefined,
): Effect.Effect<Beginning, Failure> =>
  Effect.suspend(() => {
    const step = scene.session.newMessage()
    const note = scene.session.newMessage()
    return scene.session.decide((transcript) =>
      decideBeginning({ ...scene, ...occasion, update, step, note }, transcript),
    )
  })

interface BeginningFacts extends TurnScene, Occasion {
  readonly update: ContextUpdate | undefined
  /** The id of the step, if it is started. */
  readonly step: MessageId
  /** The id of what the model is told of steers, if that is all it is told. */
  readonly note: MessageId
}

const decideBeginning = (facts: BeginningFacts, transcript: Transcript): Decision<Beginning> => {
  const { session, location, cast, due, update, step } = facts
  if (transcript.choices.location?.directory !== location.directory) return write([], { kind: "moved" })
  const outlook = outlookOf(transcript, { ...facts, released: session.released() }, cast.bounds)
  if (isOutdated(cast, transcript, outlook)) return write([], { kind: "recast" })
  const { chosen } = outlook
  if (chosen.length === 0 && !due) return write([], { kind: "nothing" })
  const told = withSteering(facts, update, chosen.length > 0)
  const starts = hasRoom({ ...facts, update: told }, transcript, chosen)
  return write(
    [
      ...chosen.map(promotion),
      ...(told === undefined ? [] : [told]),
      ...(starts ? [stepStarted(step, cast)] : []),
    ],
    { kind: "begun", promoted: chosen.length, step: starts ? step : undefined },
  )
}

/** Steers that come while the model is at work are said to be that, behind them and once. */
const withSteering = (
  { boundary, due, note }: BeginningFacts,
  update: ContextUpdate | undefined,
  comes: boolean,
): ContextUpdate | undefined => {
  if (!comes || !due || boundary !== "continuing") return update
  const empty = { messageID: note, text: "", changed: {}, removed: [] }
  const { type, data } = update ?? { type: "session.next.context.updated.1" as const, data: empty }
  const text = data.text === "" ? STEERED : `${STEERED}\n\n${data.text}`
  return { type, data: { ...data, text } }
}

const write = (events: readonly DurableEvent[], beginning: Beginning): Decision<Beginning> => ({
  kind: "append",
  events,
  answer: () => beginning,
})

export const stepStarted = (
  assistantMessageID: MessageId,
  { agent, model, variant }: Cast,
): DurableEvent => ({
  type: "session.next.step.started.1",
  data: {
    assistantMessageID,
    agent: agent.name,
    model: model.id,
    ...(variant === undefined ? {} : { variant }),
    contextWindow: model.contextWindow,
  },
})

const promotion = ({ id, admittedSeq }: PendingInput): DurableEvent => ({
  type: "session.next.prompt.promoted.1",
  data: { messageID: messageId(id), admittedSeq },
})

const hasRoom = (
  { session, cast, update, settings: { compaction } }: BeginningFacts,
  transcript: Transcript,
  chosen: readonly WaitingInput[],
): boolean => {
  if (!compaction.auto) return true
  const prompts = chosen.reduce((sum, { prompt }) => sum + estimatePrompt(prompt), 0)
  return surelyFits({
    budget: budgetOf(cast.window, compaction),
    known: weighRequest({ ...session.history(), transcript }, cast).request,
    coming: prompts + (update === undefined ? 0 : estimateText(update.data.text)),
  })
}
