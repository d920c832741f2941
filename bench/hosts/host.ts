/** What the measurement needs from a host: it goes through the tale, and its requests are returned as plain text. */
import type { Round, SummaryName } from "./tale.ts"

export interface Telling {
  readonly summary: SummaryName
  readonly rounds: readonly Round[]
  /** False: the host alone, without our hook or plugin. */
  readonly withUs: boolean
}

/** The first request after one compaction. */
export interface AfterCompaction {
  /** Every text of the request, as one string each. */
  readonly texts: readonly string[]
  /** Texts of the following request. */
  readonly later: readonly string[]
  /** How long our hook or plugin worked on it, if recorded. */
  readonly ms: number | undefined
}

export interface MeasuredHost {
  readonly name: string
  readonly version: () => string
  /** False: the host is ours and cannot run without us. */
  readonly canBeAlone: boolean
  /** One entry per round. A compaction that did not happen is undefined. */
  readonly live: (telling: Telling) => Promise<readonly (AfterCompaction | undefined)[]>
}
