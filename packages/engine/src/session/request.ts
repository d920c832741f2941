/** The request of a turn: baseline, history, tools; and what it weighs. */
import { lowerContext } from "../domain/lower.ts"
import { WRAP_UP } from "../domain/reminder.ts"
import type { ModelRequest } from "../port/model.ts"
import type { Cast } from "./cast.ts"
import type { History } from "./folded-sessions.ts"
import type { Opening } from "./preamble.ts"

/** Estimated tokens. */
export interface Weight {
  readonly request: number
  /** Of them, what is not history. */
  readonly overhead: number
}

export const weighRequest = (history: History, cast: Cast): Weight => {
  const { transcript, estimator, preamble } = history
  const overhead = openingOf(history, cast).tokens + preamble.toolTokens(cast.advertisements)
  return { overhead, request: estimator.request(transcript, { model: cast.model.id, overhead }) }
}

export const buildRequest = (sessionID: string, history: History, cast: Cast): ModelRequest => {
  const { transcript, lowering } = history
  const { model, advertisements, settings, window, isLast } = cast
  return {
    prompt: [
      ...openingOf(history, cast).messages,
      ...lowering.prompt(transcript.conversation, {
        model: model.id,
        systemInHistory: model.systemInHistory,
        compactedSeq: transcript.compactions.seq,
      }),
      ...(isLast ? [lowerContext(WRAP_UP, model)] : []),
    ],
    tools: advertisements,
    sessionID,
    settings: { ...settings, maxOutputTokens: window.maxOutput },
  }
}

const IDENTITY =
  "You are a coding agent. You work on the user's project with the tools you are given; paths are relative to the working directory. Go on until the task is done, then say briefly what you did."

const openingOf = ({ preamble, transcript }: History, { agent }: Cast): Opening =>
  preamble.opening(agent.prompt ?? IDENTITY, transcript.surroundings.epoch?.baseline ?? "")
