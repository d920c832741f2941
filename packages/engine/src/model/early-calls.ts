/**
 * Releases a tool call when its input is whole. The SDK's tracker holds every call until the answer is over, because text
 * can always grow. An object cannot grow after its last closing brace, so its call can already run while the model writes
 * the next one. `{}` waits until the next call begins, because some servers send it before the real input.
 */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"

import type { ToolCallDelta, ToolCallTracker } from "./chat-chunks.ts"

type Enqueue = (part: LanguageModelV4StreamPart) => void

/** `open` makes the tracker, which writes its parts to the function it gets. */
export const withEarlyCalls = (
  open: (enqueue: Enqueue) => ToolCallTracker,
  enqueue: Enqueue,
): ToolCallTracker => {
  /** Calls that the tracker still holds, by id. */
  const held = new Map<string, ObjectScan>()
  let last: ToolCallDelta | undefined

  const tracker = open((part) => {
    if (part.type === "tool-input-start") held.set(part.id, openObjectScan())
    else if (part.type === "tool-input-delta") held.get(part.id)?.push(part.delta)
    else if (part.type === "tool-call") held.delete(part.toolCallId)
    enqueue(part)
  })
  /** The tracker can only release all calls at once. Calls that arrive one after the other are alone in it. */
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

/** `broken`: not an object, so its end cannot be recognised. */
type ScanState = "open" | "empty" | "whole" | "broken"

interface ObjectScan {
  readonly push: (text: string) => void
  readonly state: () => ScanState
}

/** Follows only braces, brackets and strings. Whether it is JSON is checked when the call is made. */
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
