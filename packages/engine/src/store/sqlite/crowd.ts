/**
 * Notices when callers come in crowds: two of them in one round of the event loop, or in the last round that had any. A
 * crowd's requests are worth doing together at the end of the round. Callers that come one by one do not wait.
 */
import { nextTurn } from "../../port/next-turn.ts"

export interface Crowd {
  /** Counts one more caller and says whether it is part of a crowd. */
  readonly join: () => boolean
}

export const makeCrowd = (): Crowd => {
  let now = 0
  let before = 0

  const endRound = (): void => {
    before = now
    now = 0
  }

  return {
    join: () => {
      if (now === 0) void nextTurn().then(endRound)
      now += 1
      return now > 1 || before > 1
    },
  }
}
