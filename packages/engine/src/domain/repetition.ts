import type { Json } from "@meridian/protocol"

import { LIMITS } from "./limits.ts"
import type { Conversation } from "./transcript/conversation.ts"

export type Repetition =
  | { readonly kind: "none" }
  | { readonly kind: "noticed" | "refused"; readonly count: number; readonly note: string }

/** One call; without an input when it was no JSON. */
export interface Made {
  readonly tool: string
  readonly input: Json | undefined
}

/**
 * Counts how often the model has now made exactly this call in a row since the last thing a person said. `before`: calls
 * that came together with this one and are in no transcript yet.
 */
export const noticeRepetition = (
  { items }: Conversation,
  before: readonly Made[],
  { tool, input }: Made,
): Repetition => {
  const wanted = JSON.stringify(input)
  const isSame = (call: Partial<Made>): boolean => call.tool === tool && JSON.stringify(call.input) === wanted
  const different = before.findLastIndex((call) => !isSame(call))
  let count = before.length - different
  for (let index = different === -1 ? items.length - 1 : -1; index >= 0; index -= 1) {
    const item = items[index]
    if (item?.kind !== "assistant") break
    let same = true
    for (const part of item.parts.toReversed()) {
      if (part.type !== "tool") continue
      if (!isSame(part)) {
        same = false
        break
      }
      count += 1
    }
    // Enough is known: the exact number beyond the refusal does not matter.
    if (!same || count > LIMITS.repetitionRefused) break
  }
  if (count < LIMITS.repetitionNoticed) return { kind: "none" }
  const note = `Note: this is the same call for the ${count}th time in a row. Use its result, or do something else.`
  return { kind: count >= LIMITS.repetitionRefused ? "refused" : "noticed", count, note }
}
