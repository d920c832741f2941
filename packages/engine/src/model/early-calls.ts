/**
 * Lets a tool call go when its input is whole. The SDK's tracker keeps every call back until the answer is over, because a
 * text can always grow; an object cannot, once its last brace is closed. A call can then run while the model writes the
 * next one. `{}` waits for the next call to begin: some servers send it before the real input.
 */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"

import type { ToolCallDelta, ToolCallTracker } from "./chat-chunks.ts"

type Enqueue = (part: LanguageModelV4StreamPart) => void

/** `open` makes the tracker that writes into what it is given. */
export const withEarlyCalls = (
  open: (enqueue: Enqueue) => ToolCallTracker,
  enqueue: Enqueue,
): ToolCallTracker => {
  /** Calls the tracker still holds, by their id. */
  const held = new Map<string, ObjectScan>()
  let last: ToolCallDelta | undefined

  const tracker = open((part) => {
    if (part.type === "tool-input-start") held.set(part.id, openObjectScan())
    else if (part.type === "tool-input-delta") held.get(part.id)?.push(part.delta)
    else if (part.type === "tool-call") held.delete(part.toolCallId)
    enqueue(part)
  })
  /** Only all of them at once: the tracker knows no other way. Calls that come one after the other are alone. */
  const release = (states: readonly ScanState[]): void => {
    if (held.size > 0 && [...held.values()].every((scan) => states.includes(scan.state()))) tracker.flush()
  }

  return {
    processDelta: (delta) => {
      if (last !== undefined && beginsAnother(delta, last)) release(["whole", "empty"])
      last = delta
      tracker.processDelta(delta)
      release(["whole"])
    },
    flush: tracker.flush.bind(tracker),
  }
}

const beginsAnother = (delta: ToolCallDelta, last: ToolCallDelta): boolean => {
  if ((delta.function?.name ?? "") === "") return false
  const { index } = delta
  if (index !== null && index !== undefined) return index !== last.index
  return (delta.id ?? "") !== "" && delta.id !== last.id
}

/** `broken`: it is no object, so nobody can say when it ends. */
type ScanState = "open" | "empty" | "whole" | "broken"

interface ObjectScan {
  readonly push: (text: string) => void
  readonly state: () => ScanState
}

/** Follows braces, brackets and strings only: whether it is JSON is decided when the call is made. */
const openObjectScan = (): ObjectScan => {
  let depth = 0
  let inString = false
  let escaped = false
  let filled = false
  let state: ScanState = "open"

  const read = (character: string): void => {
    if (inString) {
      if (escaped) escaped = false
      else if (character === "\\") escaped = true
      else if (character === '"') inString = false
      return
    }
    if (character <= " ") return
    if (state !== "open" || (depth === 0 && character !== "{")) {
      state = "broken"
      return
    }
    if (character === "{" || character === "[") depth += 1
    else if (character === "}" || character === "]") depth -= 1
    else if (character === '"') inString = true
    if (depth === 0) state = filled ? "whole" : "empty"
    else if (character !== "{" || depth > 1) filled = true
  }
  return {
    push: (text) => {
      for (let at = 0; at < text.length; at++) read(text.charAt(at))
    },
    state: () => state,
  }
}
