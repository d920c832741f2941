import type { Behaviour } from "../behaviours.ts"

export const SPACES_BEHAVIOURS = {} as const satisfies Record<string, Behaviour>
