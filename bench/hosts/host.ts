/** What the measurement needs of a host: it lives through the tale, and what it was asked is told as plain text. */
import type { Round, SummaryName } from "./tale.ts"

export interface Telling {
  readonly summary: SummaryName
  readonly rounds: readonly Round[]
  /** False: the host alone, without our hook or plugin. */
  readonly withUs: boolean
}

/** The first request after one compaction. */
export interface AfterCompaction {
  /** Every text of the request, one a string. */
  readonly texts: readonly string[]
  /** Texts of the request that follows it. */
  readonly later: readonly string[]
  /** How long our hook or plugin worked on it, where that is told. */
  readonly ms: number | undefined
}

export interface MeasuredHost {
  readonly name: string
  readonly version: () => string
  /** False: the host is ours, and there is no running it without us. */
  readonly canBeAlone: boolean
  /** One entry for each round; a compaction that did not happen is undefined. */
  readonly live: (telling: Telling) => Promise<readonly (AfterCompaction | undefined)[]>
}
