import type { FailureEntry } from "./entry.ts"

/** Failures of the brief, the rules and the hooks that carry them. */
export const CONTINUITY_FAILURES = {} as const satisfies Record<string, FailureEntry>
