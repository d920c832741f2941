import { LIMITS } from "./limits.ts"
import {
  countWith,
  isSameCall,
  repetitionNote,
  type Made,
  type Result,
  type Row,
} from "./transcript/repetition.ts"

export interface Repetition {
  readonly count: number
  /** For the model. */
  readonly note: string
}

/**
 * Whether a call is not to be made: it and its result would be the same again, as often as is enough. `before`: calls that came
 * together with this one and are in no transcript yet. Those without a result are taken to say the same.
 */
export const refuseRepetition = (row: Row, before: readonly Made[], call: Made): Repetition | undefined => {
  const coming: readonly Made[] = [...row.open, ...before]
  const different = coming.findLastIndex((one) => !isSameCall(one, call))
  const settled = different === -1 && row.last !== undefined && isSameCall(row.last, call) ? row.count : 0
  const count = settled + (coming.length - 1 - different) + 1
  return count < LIMITS.repetitionRefused ? undefined : { count, note: repetitionNote(count) }
}

/** Whether a call that has ended is to be pointed out: it said the same again. */
export const noticeRepetition = (row: Row, call: Made, result: Result): Repetition | undefined => {
  const count = countWith(row, call, result)
  return count < LIMITS.repetitionNoticed ? undefined : { count, note: repetitionNote(count) }
}
