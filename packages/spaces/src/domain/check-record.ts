/**
 * The event `check` of `runs.jsonl`: one check of a run and how it ended. A check while applying may be recorded
 * after the run has ended.
 */
import { COUNT, INTEGER, number, objectOf, oneOf, RUN_ID, STRING } from "@meridian/protocol"

import type { RecordOf } from "./record.ts"

export const CHECK_PLACES = ["run", "apply"] as const
export const CHECK_ENDS = ["ended", "timeout", "stopped", "not-started"] as const

const AMOUNT = number({ least: 0 })

/**
 * `place`: on the agent's claim to be done, or on the work as it would be applied. `attempt`: the attempt after which
 * it ran. `output`: the last part; the file that `log` names in the run's folder has all of it.
 */
export const CHECK_EVENT = objectOf(
  {
    event: oneOf("check"),
    id: RUN_ID,
    at: STRING,
    place: oneOf(...CHECK_PLACES),
    attempt: COUNT,
    command: STRING,
    why: oneOf(...CHECK_ENDS),
    durationSecs: AMOUNT,
    output: STRING,
    log: STRING,
  },
  { exitCode: INTEGER },
)

export type CheckEventRecord = RecordOf<typeof CHECK_EVENT>
