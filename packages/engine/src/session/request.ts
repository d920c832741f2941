/** The request of a turn, from baseline, history and tools; and its weight. */
import { answerPolicy, answerSchema } from "../domain/answer-format.ts"
import { baseInstructions } from "../domain/base-instructions.ts"
import { lowerContext } from "../domain/lower.ts"
import { WRAP_UP, WRAP_UP_WITH_VALUE } from "../domain/reminder.ts"
import { estimateText } from "../domain/tokens.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { ModelRequest } from "../port/model.ts"
import type { Cast } from "./cast.ts"
import type { History } from "./folded-sessions.ts"
import type { Opening } from "./preamble.ts"

/** In estimated tokens. */
export interface Weight {
  readonly request: number
  /** The part that is not history. */
  readonly overhead: number
}

export const weighRequest = (history: History, cast: Cast): Weight => {
  const { transcript, estimator, preamble } = history
  const passing = passingTexts(transcript, cast).reduce((sum, text) => sum + estimateText(text), 0)
  const overhead = openingOf(history, cast).tokens + preamble.toolTokens(cast.advertisements) + passing
  return { overhead, request: estimator.request(transcript, { model: cast.model.id, overhead }) }
}

export const buildRequest = (sessionID: string, history: History, cast: Cast): ModelRequest => {
  const { transcript, lowering } = history
  const { model, advertisements, hosted, settings, window, answer, overrides } = cast
  const passing = passingTexts(transcript, cast).map((text) => lowerContext(text, model))
  return {
    prompt: [
      ...openingOf(history, cast).messages,
      ...lowering.prompt(transcript.conversation, {
        model: model.id,
        systemInHistory: model.systemInHistory,
        compactedSeq: transcript.compactions.seq,
      }),
      ...passing,
    ],
    tools: advertisements,
    ...(hosted === undefined ? {} : { hosted }),
    sessionID,
    settings: { ...settings, maxOutputTokens: window.maxOutput },
    ...(passing.length === 0 ? {} : { passing: passing.length }),
    ...(answer === "tool" ? { mustCall: true } : {}),
    ...(answer === "native" && overrides.format !== undefined
      ? { answer: answerSchema(overrides.format).schema }
      : {}),
  }
}

/** Texts for this request only. They come last, where they break no cached prefix. */
const passingTexts = ({ activity }: Transcript, { isLast, answer, overrides }: Cast): readonly string[] => {
  if (!isLast && answer === undefined && overrides.system === undefined) return []
  return [
    ...(overrides.system === undefined ? [] : [overrides.system]),
    ...(answer === undefined ? [] : [answerPolicy(answer, activity.answer.problem)]),
    ...(isLast ? [answer === undefined ? WRAP_UP : WRAP_UP_WITH_VALUE] : []),
  ]
}

const openingOf = ({ preamble, transcript }: History, { agent, model }: Cast): Opening =>
  preamble.opening(
    agent.prompt ?? baseInstructions(model.family),
    transcript.surroundings.epoch?.baseline ?? "",
  )
