import type { FailureEntry } from "./entry.ts"

/** Failures of the engine as a harness. */
export const DIRECT_FAILURES = {
  SESSION_IN_USE: {
    exit: 1,
    http: 409,
    cause: (f) => `Another process is at work in session ${f["session"]}.`,
    next: () => "wait until it is done or interrupt it there, or fork the session.",
  },
  TERMINAL_REQUIRED: {
    exit: 2,
    http: 400,
    cause: (f) => `A conversation needs a terminal, and ${f["stream"]} is not one.`,
    next: () => `use 'meridian run spawn -m direct/MODEL -p "..."' without a terminal.`,
  },
} as const satisfies Record<string, FailureEntry>
