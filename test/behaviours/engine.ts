import type { Behaviour } from "../behaviours.ts"

/** Seed 004. */
export const ENGINE_BEHAVIOURS = {
  "prompt.retry.exact": {
    seed: "004",
    says: "exact reuse of a message id returns the same admitted receipt",
    owed: "the engine is being built",
  },
} as const satisfies Record<string, Behaviour>
