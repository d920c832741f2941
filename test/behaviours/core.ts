import type { Behaviour } from "../behaviours.ts"

/** One of each: what is added to the engine declares everything that others need to know about it. */
export const CORE_BEHAVIOURS = {
  "tools.one-value": {
    seed: "issue 19",
    says: "a tool says what its calls do, and every call is recorded with it: windows show it so, and the ledger takes its files",
  },
  "tools.looking": {
    seed: "issue 19",
    says: "which calls change nothing is said by their tools: the plan agent may make those, and no others",
  },
} satisfies Record<string, Behaviour>
