/** The length of the tale: short for `npm run test:live`, full for the published figures. */
import { ROUNDS, SUMMARIES, type SummaryName } from "./tale.ts"

export const SHORT = { rounds: ROUNDS.slice(0, 2), summaries: ["inventing"] } as const

export const FULL = {
  rounds: ROUNDS,
  summaries: Object.keys(SUMMARIES).filter((name): name is SummaryName => name in SUMMARIES),
}
