/** The request of a turn: baseline, history, tools; and what it weighs. */
import type { PromptMessage } from "../domain/prompt.ts"
import { estimateText } from "../domain/tokens.ts"
import { wellFormed } from "../domain/well-formed.ts"
import type { ModelRequest, ToolAdvertisement } from "../port/model.ts"
import type { Cast } from "./cast.ts"
import type { History } from "./histories.ts"

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
  const { model, advertisements } = cast
  return {
    prompt: [
      ...openingOf(history, cast).messages,
      ...lowering.prompt(transcript.conversation, {
        model: model.id,
        systemInHistory: model.systemInHistory,
        compactedSeq: transcript.compactions.seq,
      }),
    ],
    tools: advertisements,
    sessionID,
    maxOutputTokens: model.maxOutput,
  }
}

const IDENTITY =
  "You are a coding agent. You work on the user's project with the tools you are given; paths are relative to the working directory. Go on until the task is done, then say briefly what you did."

const openingOf = ({ preamble, transcript }: History, { agent }: Cast): Opening =>
  preamble.opening(agent.prompt ?? IDENTITY, transcript.surroundings.epoch?.baseline ?? "")

/** What a request begins with. It seldom changes, so it is made and weighed when it does, and is the same object till then. */
export interface Preamble {
  readonly opening: (prompt: string, baseline: string) => Opening
  readonly toolTokens: (advertisements: readonly ToolAdvertisement[]) => number
}

interface Opening {
  readonly messages: readonly PromptMessage[]
  readonly tokens: number
}

export const createPreamble = (): Preamble => ({
  opening: rememberLast((prompt, baseline) => ({
    messages: [prompt, baseline]
      .map(wellFormed)
      .filter((content) => content !== "")
      .map((content) => ({ role: "system", content })),
    tokens: estimateText(prompt) + estimateText(baseline),
  })),
  toolTokens: rememberLast((advertisements) =>
    advertisements.reduce((sum, tool) => sum + estimateText(JSON.stringify(tool)), 0),
  ),
})

const rememberLast = <Inputs extends readonly unknown[], Output>(
  make: (...inputs: Inputs) => Output,
): ((...inputs: Inputs) => Output) => {
  let last: { readonly inputs: Inputs; readonly output: Output } | undefined
  return (...inputs) => {
    if (last === undefined || inputs.some((input, index) => input !== last?.inputs[index]))
      last = { inputs, output: make(...inputs) }
    return last.output
  }
}
