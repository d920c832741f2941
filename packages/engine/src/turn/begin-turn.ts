/**
 * Opens a turn in one append: the inputs that become visible, the context that changed and, when there is clearly room for
 * all of it, the step itself. When room must be made first, the step starts later in an append of its own.
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
  isAt,
  isOutdated,
  spendingBefore,
  warningsFor,
  weighRequest,
  type Cast,
  type ContextUpdate,
  type Decision,
  type TurnScene,
} from "../session/index.ts"

/** Why a turn may begin now. */
export interface Occasion {
  readonly boundary: Boundary
  /** Turns of this drain since input was last promoted. */
  readonly turns: number
  /** A turn is due even without new input: somebody asked for it, or the model has results to see. */
  readonly due: boolean
}

export type Beginning =
  /** The session has moved to another place; nothing was written. */
  | { readonly kind: "moved" }
  /** The session's agent or model was switched after the cast was chosen; nothing was written. */
  | { readonly kind: "recast" }
  | { readonly kind: "nothing" }
  /** The session has used up its budget; the question is recorded. */
  | { readonly kind: "parked" }
  /** `step`: the id of the step, if it has started. */
  | { readonly kind: "begun"; readonly promoted: number; readonly step: MessageId | undefined }

export const beginTurn = (
  scene: TurnScene,
  occasion: Occasion,
  update: ContextUpdate | undefined,
): Effect.Effect<Beginning, Failure> =>
  Effect.suspend(() => {
    const step = scene.session.newMessage()
    const note = scene.session.newMessage()
    const question = scene.session.newQuestion()
    return scene.session.decide((transcript) =>
      decideBeginning({ ...scene, ...occasion, update, step, note, question }, transcript),
    )
  })

interface BeginningFacts extends TurnScene, Occasion {
  readonly update: ContextUpdate | undefined
  /** The id of the step, if it starts. */
  readonly step: MessageId
  /** The id of the note about steers and the budget, when there is no other context update. */
  readonly note: MessageId
  /** The id of the question, if the budget is used up. */
  readonly question: string
}

const decideBeginning = (facts: BeginningFacts, transcript: Transcript): Decision<Beginning> => {
  const { session, cast, due, update, step } = facts
  if (!isAt(transcript, facts)) return write([], { kind: "moved" })
  const outlook = outlookOf(transcript, { ...facts, released: session.released() }, cast.bounds)
  if (isOutdated(cast, transcript, outlook)) return write([], { kind: "recast" })
  const { chosen } = outlook
  if (chosen.length === 0 && !due) return write([], { kind: "nothing" })
  const spending = spendingBefore(facts, transcript)
  if (spending.kind === "paused") return write(spending.events, { kind: "parked" })
  const { warnings } = spending
  const steered = isSteered(facts, chosen.length > 0) ? [STEERED] : []
  const whole = withTexts(facts, update, [...steered, ...warnings.texts])
  const starts = hasRoom({ ...facts, update: whole }, transcript, chosen)
  // Without room a compaction follows and would swallow the warnings, so they wait for the step.
  const told = starts ? whole : withTexts(facts, update, steered)
  return write(
    [
      ...chosen.map(promotion),
      ...(starts ? warnings.events : []),
      ...(told === undefined ? [] : [told]),
      ...(starts ? [stepStarted(step, cast)] : []),
    ],
    { kind: "begun", promoted: chosen.length, step: starts ? step : undefined },
  )
}

/** Steers that arrive while the model is working get one note that says so. */
const isSteered = ({ boundary, due }: BeginningFacts, comes: boolean): boolean =>
  comes && due && boundary === "continuing"

/** Starts the step of a turn after room was made for it. */
export const startStep = ({ session, cast, settings }: TurnScene): Effect.Effect<MessageId, Failure> =>
  Effect.suspend(() => {
    const [step, note] = [session.newMessage(), session.newMessage()]
    return session.decide((transcript) => {
      const { events, texts } = warningsFor(transcript, cast, settings)
      const told = withTexts({ note }, undefined, texts)
      return {
        kind: "append",
        events: [...events, ...(told === undefined ? [] : [told]), stepStarted(step, cast)],
        answer: () => step,
      }
    })
  })

/** Adds texts before the context update. Both follow the inputs. */
const withTexts = (
  { note }: Pick<BeginningFacts, "note">,
  update: ContextUpdate | undefined,
  texts: readonly string[],
): ContextUpdate | undefined => {
  if (texts.length === 0) return update
  const empty = { messageID: note, text: "", changed: {}, removed: [] }
  const { type, data } = update ?? { type: "session.next.context.updated.1" as const, data: empty }
  const text = [...texts, ...(data.text === "" ? [] : [data.text])].join("\n\n")
  return { type, data: { ...data, text } }
}

const write = (events: readonly DurableEvent[], beginning: Beginning): Decision<Beginning> => ({
  kind: "append",
  events,
  answer: () => beginning,
})

const stepStarted = (assistantMessageID: MessageId, { agent, model, variant }: Cast): DurableEvent => ({
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
