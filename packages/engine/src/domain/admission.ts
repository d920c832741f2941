import type { Delivery, Overrides, Prompt, Receipt, RecordedPrompt } from "@meridian/protocol"

import { differingOverride } from "./overrides.ts"

export interface AdmissionRequest {
  readonly id: string
  readonly sessionID: string
  readonly prompt: RecordedPrompt
  readonly delivery: Delivery
  readonly overrides: Overrides
}

type ConflictingField = "session" | "prompt" | "delivery" | "message" | keyof Overrides

export type Admission =
  | { readonly kind: "admit" }
  | { readonly kind: "replay"; readonly receipt: Receipt }
  | { readonly kind: "conflict"; readonly field: ConflictingField }
  | { readonly kind: "full"; readonly limit: number }

export interface InboxFacts {
  /** The earlier receipt for this id, in any session. */
  readonly earlier: Receipt | undefined
  /** The id already names a message that is not an input. */
  readonly usedByMessage: boolean
  readonly pending: number
  readonly limit: number
}

/**
 * Decides what a prompt with this id means, given what was admitted under the same id before.
 *
 * A caller that lost our answer sends the same input again, so an exact repeat must return the first receipt, even when the
 * inbox is full by now. Any other use of the id is two requests that share a name: refuse it, never merge.
 */
export const decideAdmission = (request: AdmissionRequest, facts: InboxFacts): Admission => {
  const { earlier } = facts
  if (earlier !== undefined) {
    if (earlier.sessionID !== request.sessionID) return { kind: "conflict", field: "session" }
    if (!samePrompt(earlier.prompt, request.prompt)) return { kind: "conflict", field: "prompt" }
    if (earlier.delivery !== request.delivery) return { kind: "conflict", field: "delivery" }
    const differing = differingOverride(earlier, request.overrides)
    if (differing !== undefined) return { kind: "conflict", field: differing }
    return { kind: "replay", receipt: earlier }
  }
  if (facts.usedByMessage) return { kind: "conflict", field: "message" }
  if (facts.pending >= facts.limit) return { kind: "full", limit: facts.limit }
  return { kind: "admit" }
}

const samePrompt = (left: Prompt, right: Prompt): boolean => {
  if (left.text !== right.text) return false
  const leftFiles = left.files ?? []
  const rightFiles = right.files ?? []
  return (
    leftFiles.length === rightFiles.length &&
    leftFiles.every((file, index) => {
      const other = rightFiles[index]
      return (
        other !== undefined &&
        file.mediaType === other.mediaType &&
        file.base64 === other.base64 &&
        file.name === other.name
      )
    })
  )
}
