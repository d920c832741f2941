/**
 * What a request begins with. It seldom changes, so it is built and weighed only then, and is the same object until the
 * next change.
 */
import type { PromptMessage } from "../domain/prompt.ts"
import { estimateText } from "../domain/tokens.ts"
import { wellFormed } from "../domain/well-formed.ts"
import type { ToolAdvertisement } from "../port/model.ts"

export interface Preamble {
  readonly opening: (prompt: string, baseline: string) => Opening
  readonly toolTokens: (advertisements: readonly ToolAdvertisement[]) => number
}

export interface Opening {
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
