import type { Behaviour } from "../behaviours.ts"

export const CONTINUITY_BEHAVIOURS = {} as const satisfies Record<string, Behaviour>
