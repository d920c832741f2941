import type { Behaviour } from "../behaviours.ts"

/** Issue 12: runs by the clock. */
export const SCHEDULES_BEHAVIOURS = {
  "schedule.fires": {
    seed: "issue 12",
    says: "a schedule begins its run at the times of its pattern; it can be listed, paused, resumed and removed",
  },
  "schedule.catches-up": {
    seed: "issue 12",
    says: "of the times that nobody was there for, the newest is caught up, once",
  },
  "schedule.once": {
    seed: "issue 12",
    says: "each due time begins at most one run, whatever processes fire and die at it",
  },
  "schedule.no-overlap": {
    seed: "issue 12",
    says: "a firing is skipped while the run of an earlier one has not ended, unless --overlap says otherwise",
  },
  "schedule.own": {
    seed: "issue 12",
    says: "only a person makes schedules, and one that this user's Meridian did not write fires nothing",
  },
  "schedule.bad-input": {
    seed: "issue 12",
    says: "a pattern, zone or command that cannot work is refused when the schedule is made",
  },
} as const satisfies Record<string, Behaviour>
