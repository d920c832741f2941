/** A context source as the registry sees it: domain texts, and a way to observe. */
import type { LedgerState } from "@meridian/continuity/ledger"

import type { Observed, SourceTexts } from "../domain/context.ts"
import type { PermissionRule } from "../domain/permission.ts"

/** What a source may look at besides its own place. The scene is valid for one turn and is not kept. */
export interface ObservationScene {
  readonly sessionID: string
  readonly model: string
  /** The context window of the model, in tokens. */
  readonly contextWindow: number
  readonly agent: string
  readonly rules: readonly PermissionRule[]
  /** Instruction files that reads of this session discovered. */
  readonly discovered: readonly string[]
  /** The paths this session works with, most recent last. */
  readonly workingSet: () => readonly string[]
  /** The last thing a person said. */
  readonly prompt: string
  readonly tools: readonly string[]
  /** What the session's own log holds that must survive a compaction. */
  readonly ledger: () => LedgerState
  /** A compaction has just ended. Some sources are observed only then. */
  readonly atCompaction: boolean
}

export interface ContextSource extends SourceTexts {
  /** Must not throw for expected trouble: a source that cannot be read now reports itself as unavailable. */
  readonly observe: (scene: ObservationScene) => Observed | Promise<Observed>
}
