/** Every bound on what one prompt may bring along by naming it. */
import { assert } from "../domain/assert.ts"
import { LIMITS } from "../domain/limits.ts"
import { TOOL_LIMITS } from "../tool/limits.ts"

export const EXPAND_LIMITS = {
  /** Files and resources of all mentions together. */
  things: 100,
  textBytes: 512 * 1024,
  /** The text of one thing. Longer text is cut, with a note. */
  thingTextBytes: TOOL_LIMITS.readBytes,
  mediaBytes: 8 * 1024 * 1024,
  filesAtOnce: 16,
  templateBytes: 64 * 1024,
  templateCommands: 10,
  commandMs: 30_000,
  commandCharacters: 16 * 1024,
  /** How many templates a list shows. */
  templates: 200,
  /** The time for all of it. */
  wholeMs: 60_000,
} as const

assert(EXPAND_LIMITS.thingTextBytes <= EXPAND_LIMITS.textBytes, "one thing fits a prompt")
assert(
  EXPAND_LIMITS.textBytes + (EXPAND_LIMITS.mediaBytes * 4) / 3 < LIMITS.promptBytes,
  "what is named leaves room for what is said",
)
