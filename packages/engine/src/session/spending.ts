/**
 * The caps of a session at work: whether they are reached, the warnings its agent gets on the way, and the question at the
 * end.
 */
import type { Caps, DurableEvent, Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { breachOf, budgetPause, capNotices, capsInForce, NO_CAPS, sayNotices } from "../domain/caps.ts"
import { CROWDED, isCrowded } from "../domain/compaction.ts"
import { pauseAsked } from "../domain/question.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { Cast } from "./cast.ts"
import { DEFAULT_AGENT, type SettingsValue } from "./settings.ts"
import type { TurnScene } from "./turn-scene.ts"

/** Combines the caps of the engine, the agent and the session. */
export const capsOf = (
  { spending, choices: { agent = DEFAULT_AGENT } }: Pick<Transcript, "spending" | "choices">,
  { caps, agents }: Pick<SettingsValue, "caps" | "agents">,
): Caps => capsInForce([caps, agents.get(agent)?.caps, spending.given], spending.set)

/** The pause of a session that has used up its budget; undefined while it has not. */
const pausesWhenSpent = (
  transcript: Transcript,
  caps: Caps,
  requestID: string,
): readonly DurableEvent[] | undefined => {
  const breach = breachOf(transcript.spending.spent, caps)
  if (breach === undefined) return undefined
  // The question is already open.
  return transcript.parking?.question?.kind === "budget" ? [] : [pauseAsked(requestID, budgetPause(breach))]
}

/** True: the session now waits for an answer and may ask no provider. */
export const pauseWhenSpent = ({ session, settings }: TurnScene): Effect.Effect<boolean, Failure> =>
  Effect.suspend(() => {
    if (capsOf(session.transcript(), settings) === NO_CAPS) return Effect.succeed(false)
    const requestID = session.newQuestion()
    return session.decide((transcript) => {
      const pauses = pausesWhenSpent(transcript, capsOf(transcript, settings), requestID)
      return { kind: "append", events: pauses ?? [], answer: () => pauses !== undefined }
    })
  })

/** Warnings before a turn: events for people, and texts for the agent. */
export interface Warnings {
  readonly events: readonly DurableEvent[]
  readonly texts: readonly string[]
}

export type SpendingBefore =
  | { readonly kind: "paused"; readonly events: readonly DurableEvent[] }
  | { readonly kind: "goes"; readonly warnings: Warnings }

/** Whether there may be a turn, and the warnings before it. `question`: the id of the question that would be asked. */
export const spendingBefore = (
  { cast, settings, question }: Pick<TurnScene, "cast" | "settings"> & { readonly question: string },
  transcript: Transcript,
): SpendingBefore => {
  const caps = capsOf(transcript, settings)
  const events = pausesWhenSpent(transcript, caps, question)
  return events === undefined
    ? { kind: "goes", warnings: warningsUnder(caps, transcript, cast) }
    : { kind: "paused", events }
}

const NO_WARNINGS: Warnings = { events: [], texts: [] }

export const warningsFor = (transcript: Transcript, cast: Cast, settings: SettingsValue): Warnings =>
  warningsUnder(capsOf(transcript, settings), transcript, cast)

const warningsUnder = (caps: Caps, transcript: Transcript, cast: Cast): Warnings => {
  const crowded = isCrowded(transcript.compactions.pace)
  if (!crowded && caps === NO_CAPS) return NO_WARNINGS
  const { spent, told, unpriced } = transcript.spending
  const notices = capNotices(spent, caps, told)
  const budget = notices.length === 0 ? undefined : sayNotices(notices)
  const { id, price } = cast.model
  const isUnpriced = caps.maxCost !== undefined && price === undefined && !unpriced.includes(id)
  return {
    events: [
      ...(budget === undefined
        ? []
        : [
            warned({
              about: "budget",
              text: budget,
              told: notices.map(({ measure, cap, percent }) => ({ measure, cap, percent })),
            }),
          ]),
      ...(isUnpriced ? [warned({ about: "price", text: withoutPrice(id), unpriced: id })] : []),
      ...(crowded ? [warned({ about: "compaction", text: CROWDED })] : []),
    ],
    texts: [...(budget === undefined ? [] : [budget]), ...(crowded ? [CROWDED] : [])],
  }
}

const withoutPrice = (model: string): string =>
  `The price of ${model} is not known: a cap on cost does not hold for it. Caps on tokens, turns and time do.`

type Warned = Extract<DurableEvent, { readonly type: "session.next.warned.1" }>

const warned = (data: Warned["data"]): DurableEvent => ({ type: "session.next.warned.1", data })
