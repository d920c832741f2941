import type { Behaviour } from "../behaviours.ts"

export const CONTINUITY_BEHAVIOURS = {
  "brief.sample.generic": {
    seed: "001",
    says: "the brief of a session without a workflow is the sample of the document",
  },
  "brief.sample.spec": {
    seed: "001",
    says: "the brief of a spec in execution is the sample of the document, with the two sections it leaves out",
  },
  "brief.sample.bug": {
    seed: "001",
    says: "the brief of a bug being fixed is the sample of the document, with the two sections it leaves out",
  },
} as const satisfies Record<string, Behaviour>
