/** The event `check` of `runs.jsonl`: one check of a run and how it ended. Of applying, it may come after the run has ended. */
import { COUNT, INTEGER, number, objectOf, oneOf, RUN_ID, STRING } from "@meridian/protocol"

import type { RecordOf } from "./record.ts"

export const CHECK_PLACES = ["run", "apply"] as const
export const CHECK_ENDS = ["ended", "timeout", "stopped", "not-started"] as const

const AMOUNT = number({ least: 0 })

/**
 * `place`: where the agent said it was done, or on the work as it would be applied. `attempt`: the attempt of the run behind
 * which it ran. `output`: the last of it; all of it is in the file that `log` names in the folder of the run.
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
