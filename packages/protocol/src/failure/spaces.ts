import type { FailureEntry } from "./entry.ts"

/** Failures of spaces and the `meridian` command. */
export const SPACES_FAILURES = {
  HARNESS_MISMATCH: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `Session ${f["chat"]} was started with ${f["started"]}. Cannot continue with a ${f["asked"]} model.`,
    next: (f) => `pick a model on ${f["started"]} or omit -m.`,
  },
} as const satisfies Record<string, FailureEntry>
