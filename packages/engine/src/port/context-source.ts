/** A context source as the registry knows it: texts from the domain, and how to look. */
import type { LedgerState } from "@meridian/continuity/ledger"

import type { Observed, SourceTexts } from "../domain/context.ts"
import type { PermissionRule } from "../domain/permission.ts"

/** What a source may look at beside its own place. Turn-scoped: nothing here is kept. */
export interface ObservationScene {
  readonly sessionID: string
  readonly model: string
  /** Tokens the model takes. */
  readonly contextWindow: number
  readonly agent: string
  readonly rules: readonly PermissionRule[]
  /** Instruction files found by reads of this session. */
  readonly discovered: readonly string[]
  /** Paths the session works with, most recent last. */
  readonly workingSet: () => readonly string[]
  /** The newest thing a person said. */
  readonly prompt: string
  readonly tools: readonly string[]
  /** What the session's own log knows that must survive a compaction. */
  readonly ledger: () => LedgerState
  /** A compaction has just ended; some sources are looked at only then. */
  readonly atCompaction: boolean
}

export interface ContextSource extends SourceTexts {
  /** Must not throw for what can be expected: a source that cannot be known now is unavailable. */
  readonly observe: (scene: ObservationScene) => Observed | Promise<Observed>
}
