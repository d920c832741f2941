/** A context source as the registry knows it: texts from the domain, and how to look. */
import type { Fact } from "@meridian/continuity/fact"

import type { Observed, SourceTexts } from "../domain/context.ts"
import type { PermissionRule } from "../domain/permission.ts"

/** What a source may look at beside its own place. Turn-scoped: nothing here is kept. */
export interface ObservationScene {
  readonly model: string
  readonly agent: string
  readonly rules: readonly PermissionRule[]
  /** Instruction files found by reads of this session. */
  readonly discovered: readonly string[]
  /** Paths the session works with, most recent last. */
  readonly workingSet: readonly string[]
  /** The newest thing a person said. */
  readonly prompt: string
  readonly tools: readonly string[]
  /** What the session's own log knows. */
  readonly facts: () => readonly Fact[]
  /** A compaction has just ended; some sources are looked at only then. */
  readonly atCompaction: boolean
}

export interface ContextSource extends SourceTexts {
  /** Must not throw for what can be expected: a source that cannot be known now is unavailable. */
  readonly observe: (scene: ObservationScene) => Observed | Promise<Observed>
}
