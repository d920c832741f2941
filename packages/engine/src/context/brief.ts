/**
 * What must survive a compaction, as one source: continuity's pinned part, the same text the hosts get. Looked at only when
 * a compaction has ended: between two of them the history itself is there.
 */
import { readPin } from "@meridian/continuity"

import type { Observed } from "../domain/context.ts"
import type { ContextSource, ObservationScene } from "../port/context-source.ts"
import { textOf } from "./value-text.ts"

export interface BriefOptions {
  readonly root: string
  readonly directory: string
  /** Whose SESSION.md and workflows. */
  readonly stateRoot: string
  /** Where runs and launches are recorded; an engine without it knows only what it saw itself. */
  readonly recordsRoot: string | undefined
  readonly spaceId: string | undefined
}

export const briefSource = (options: BriefOptions): ContextSource => ({
  key: "continuity/brief",
  observe: (scene) => (scene.atCompaction ? lookAt(options, scene) : { kind: "unobserved" }),
  baseline: (value) => textOf(value),
  update: (_previous, value) => textOf(value),
  removal: () => "The continuation brief given before no longer applies.",
})

const lookAt = async (
  { root, directory, stateRoot, recordsRoot, spaceId }: BriefOptions,
  { ledger, sessionID, contextWindow }: ObservationScene,
): Promise<Observed> => {
  const { pinned } = await readPin({
    place: { root, directory },
    stateRoot,
    ledger: ledger(),
    environment:
      recordsRoot === undefined ? {} : { MERIDIAN_STATE_ROOT: recordsRoot, MERIDIAN_SPACE_ID: spaceId },
    hasRunTable: recordsRoot !== undefined,
    harnessSessionId: sessionID,
    head: "resume",
    window: contextWindow,
  })
  return pinned === "" ? { kind: "absent" } : { kind: "value", value: pinned }
}
