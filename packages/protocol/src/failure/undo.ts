import type { FailureEntry } from "./entry.ts"

/** Failures of undoing the work of prompts. */
export const UNDO_FAILURES = {
  NOTHING_TO_UNDO: {
    exit: 1,
    http: 409,
    cause: (f) =>
      f["most"] === 0
        ? `Session ${f["session"]} has no prompt that could be taken back.`
        : `Session ${f["session"]} has ${f["most"]} ${f["most"] === 1 ? "prompt" : "prompts"} that could be taken back, not ${f["count"]}.`,
    next: (f) => (f["most"] === 0 ? "nothing is to be done." : `take back ${f["most"]} at most.`),
  },
  NOTHING_TO_REDO: {
    exit: 1,
    http: 409,
    cause: (f) => `Session ${f["session"]} has no undo that could be redone.`,
    next: () => "only the last undo can be redone, and only until the next prompt.",
  },
  FILES_CHANGED: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `${f["count"] === 1 ? "1 file was" : `${f["count"]} files were`} changed by others since, or may have been, and nothing was touched: ${shown(String(f["files"]))}.`,
    next: () =>
      "look at them; --yes overwrites them (a redo brings them back), and --conversation leaves files alone.",
  },
  FILES_NOT_KEPT: {
    exit: 1,
    http: 409,
    cause: (f) => `The files of ${f["directory"]} as they were cannot be read: ${f["reason"]}.`,
    next: () => "undo only the conversation with --conversation.",
  },
  PROMPT_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Session ${f["session"]} has no prompt ${f["prompt"]} in its conversation.`,
    next: (f) =>
      f["most"] === 0 ? "send one first." : `name one from 1 to ${f["most"]}, or the id of its message.`,
  },
} as const satisfies Record<string, FailureEntry>

const shown = (files: string): string =>
  files
    .split("\n")
    .map((file) => JSON.stringify(file).slice(1, -1))
    .join(", ")
