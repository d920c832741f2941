/**
 * Every promise of the five seeds and of later issues, in one table. Tests cite the ids. An id that is neither cited nor
 * owed fails `npm test`.
 */
import { BUDGET_BEHAVIOURS } from "./behaviours/budgets.ts"
import { CHILDREN_BEHAVIOURS } from "./behaviours/children.ts"
import { CLUSTER_BEHAVIOURS } from "./behaviours/cluster.ts"
import { CONTINUITY_BEHAVIOURS } from "./behaviours/continuity.ts"
import { CORE_BEHAVIOURS } from "./behaviours/core.ts"
import { DAYS_RUNS_BEHAVIOURS } from "./behaviours/days-runs.ts"
import { DAYS_BEHAVIOURS } from "./behaviours/days.ts"
import { DIRECT_BEHAVIOURS } from "./behaviours/direct.ts"
import { DOORS_BEHAVIOURS } from "./behaviours/doors.ts"
import { ENGINE_BEHAVIOURS } from "./behaviours/engine.ts"
import { HANDS_BEHAVIOURS } from "./behaviours/hands.ts"
import { REQUEST_BEHAVIOURS } from "./behaviours/requests.ts"
import { SCHEDULES_BEHAVIOURS } from "./behaviours/schedules.ts"
import { SPACES_BEHAVIOURS } from "./behaviours/spaces.ts"
import { TRUST_BEHAVIOURS } from "./behaviours/trust.ts"
import { UNDO_BEHAVIOURS } from "./behaviours/undo.ts"

export interface Behaviour {
  /** Where it was promised: a seed, or the issue that asked for it. */
  readonly seed:
    | "000"
    | "001"
    | "002"
    | "003"
    | "004"
    | "issue 5"
    | "issue 12"
    | "issue 13"
    | "issue 15"
    | "issue 14"
    | "issue 16"
    | "issue 17"
    | "issue 18"
    | "issue 19"
  readonly says: string
  /** Why no test proves it yet. Removed by the change that brings the test. */
  readonly owed?: string
}

export const BEHAVIOURS = {
  ...BUDGET_BEHAVIOURS,
  ...CHILDREN_BEHAVIOURS,
  ...CLUSTER_BEHAVIOURS,
  ...CONTINUITY_BEHAVIOURS,
  ...CORE_BEHAVIOURS,
  ...DAYS_BEHAVIOURS,
  ...DAYS_RUNS_BEHAVIOURS,
  ...DIRECT_BEHAVIOURS,
  ...DOORS_BEHAVIOURS,
  ...ENGINE_BEHAVIOURS,
  ...REQUEST_BEHAVIOURS,
  ...SCHEDULES_BEHAVIOURS,
  ...HANDS_BEHAVIOURS,
  ...SPACES_BEHAVIOURS,
  ...TRUST_BEHAVIOURS,
  ...UNDO_BEHAVIOURS,
} satisfies Record<string, Behaviour>

export type BehaviourId = keyof typeof BEHAVIOURS
