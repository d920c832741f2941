import type { Json } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import type { Transcript } from "../domain/transcript.ts"

export type Repetition =
  | { readonly kind: "none" }
  | { readonly kind: "noticed" | "refused"; readonly count: number; readonly note: string }

/** Counts how often the model has now made exactly this call in a row since the last thing a person said. */
export const noticeRepetition = (transcript: Transcript, tool: string, input: Json): Repetition => {
  const wanted = JSON.stringify(input)
  let count = 1
  for (let index = transcript.items.length - 1; index >= 0; index -= 1) {
    const item = transcript.items[index]
    if (item?.kind !== "assistant") break
    let same = true
    for (const part of item.parts.toReversed()) {
      if (part.type !== "tool") continue
      if (part.tool !== tool || JSON.stringify(part.input) !== wanted) {
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
