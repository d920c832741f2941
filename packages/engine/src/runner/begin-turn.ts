/**
 * Opens a turn in one transaction: the inputs that become visible, what changed around them and, when there is plainly
 * room for all of it, the step itself. Where room must be made first, the step is started by itself afterwards.
 */
import { messageId, type DurableEvent, type MessageId } from "@meridian/protocol"

import { budgetOf, estimatePrompt, surelyFits } from "../domain/budget.ts"
import { choosePromotions, type Boundary, type PendingInput } from "../domain/promotion.ts"
import { estimateText } from "../domain/tokens.ts"
import { inputsToRun as chooseInputs, type WaitingInput } from "../domain/transcript/inbox.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import { isOutdated, type Cast } from "./cast.ts"
import type { Place, Runtime } from "./drain.ts"
import type { ContextUpdate } from "./epochs.ts"
import { weighRequest } from "./request.ts"

/** Why there may be a turn now. */
export interface Occasion {
  readonly boundary: Boundary
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
  runtime: Runtime,
  place: Place,
  cast: Cast,
  { boundary, due, update }: Occasion & { readonly update: ContextUpdate | undefined },
): Beginning | Promise<Beginning> => {
  const { store, settings, world } = runtime
  const { sessionID, directory } = place
  return store.log.writeSoon(place, ({ session, append }): Beginning => {
    if (session.directory !== directory) return { kind: "moved" }
    const { transcript } = runtime.histories.current(session)
    if (isOutdated(cast, transcript)) return { kind: "recast" }
    const waiting = inputsToRun(runtime, sessionID, transcript)
    const chosen = choosePromotions(waiting, boundary, settings.limits.steerBatch)
    if (chosen.length === 0 && !due) return { kind: "nothing" }
    const step = hasRoom(runtime, place, cast, chosen, update) ? messageId(world.id("msg_")) : undefined
    append([
      ...chosen.map(promotion),
      ...(update === undefined ? [] : [update]),
      ...(step === undefined ? [] : [stepStarted(step, cast)]),
    ])
    return { kind: "begun", promoted: chosen.length, step }
  })
}

export const stepStarted = (assistantMessageID: MessageId, { agent, model }: Cast): DurableEvent => ({
  type: "session.next.step.started.1",
  data: { assistantMessageID, agent: agent.name, model: model.id, contextWindow: model.contextWindow },
})

/** Those that may be promoted: admitted to be run, or at or before the last explicit demand. */
export const inputsToRun = (
  { releases }: Runtime,
  sessionID: string,
  transcript: Transcript,
): readonly WaitingInput[] => {
  return chooseInputs(transcript.inbox, releases.get(sessionID) ?? 0)
}

const promotion = ({ id, admittedSeq }: PendingInput): DurableEvent => ({
  type: "session.next.prompt.promoted.1",
  data: { messageID: messageId(id), admittedSeq },
})

const hasRoom = (
  runtime: Runtime,
  { sessionID, fence }: Place,
  cast: Cast,
  chosen: readonly WaitingInput[],
  update: ContextUpdate | undefined,
): boolean => {
  const { compaction } = runtime.settings
  if (!compaction.auto) return true
  const history = runtime.histories.known({ id: sessionID, key: fence.key })
  const prompts = chosen.reduce((sum, { prompt }) => sum + estimatePrompt(prompt), 0)
  return surelyFits({
    budget: budgetOf(cast.model, compaction),
    known: weighRequest(history, cast).request,
    coming: prompts + (update === undefined ? 0 : estimateText(update.data.text)),
  })
}
