import type { FailureEntry } from "./entry.ts"

/** Failures of the session engine. */
export const ENGINE_FAILURES = {
  SESSION_NOT_FOUND: {
    exit: 1,
    http: 404,
    cause: (f) => `Session ${f["session"]} does not exist.`,
    next: () => "create it first, or list the sessions there are.",
  },
  INVALID_INPUT: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["what"]}.`,
    next: () => "correct the request and send it again.",
  },
} as const satisfies Record<string, FailureEntry>
