import type { FailureEntry } from "./entry.ts"

/** Failures of spaces and the `meridian` command. */
export const SPACES_FAILURES = {
  USAGE: {
    exit: 2,
    http: 400,
    cause: (f) => `${f["problem"]}`,
    next: (f) => `${f["next"]}`,
  },
  SPACE_REQUIRED: {
    exit: 1,
    http: 400,
    cause: () => "No MERIDIAN_SPACE_ID set.",
    next: () => "run 'meridian run spawn' to auto-create a space, or set MERIDIAN_SPACE_ID.",
  },
  HARNESS_MISMATCH: {
    exit: 1,
    http: 409,
    cause: (f) =>
      `Session ${f["chat"]} was started with ${f["started"]}. Cannot continue with a ${f["asked"]} model.`,
    next: (f) => `pick a model on ${f["started"]} or omit -m.`,
  },
} as const satisfies Record<string, FailureEntry>
