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
  /** Text for the model. */
  readonly note: string
}

/**
 * Whether a call should not be made, because it and its result would repeat too often. `before`: calls that arrived with
 * this one and are in no transcript yet. Calls without a result are assumed to repeat.
 */
export const refuseRepetition = (row: Row, before: readonly Made[], call: Made): Repetition | undefined => {
  const coming: readonly Made[] = [...row.open, ...before]
  const different = coming.findLastIndex((one) => !isSameCall(one, call))
  const settled = different === -1 && row.last !== undefined && isSameCall(row.last, call) ? row.count : 0
  const count = settled + (coming.length - 1 - different) + 1
  return count < LIMITS.repetitionRefused ? undefined : { count, note: repetitionNote(count) }
}

/** Whether to point out a repetition, after a call ended with the same result again. */
export const noticeRepetition = (row: Row, call: Made, result: Result): Repetition | undefined => {
  const count = countWith(row, call, result)
  return count < LIMITS.repetitionNoticed ? undefined : { count, note: repetitionNote(count) }
}
