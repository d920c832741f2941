/**
 * What must survive a compaction, as one source: continuity's pinned part, the same text that hosts get. Observed only
 * after a compaction; between two of them the history itself is still there.
 */
import { readPin } from "@meridian/continuity"

import type { Observed } from "../domain/context.ts"
import type { ContextSource, ObservationScene } from "../port/context-source.ts"
import { textOf } from "./value-text.ts"

export interface BriefOptions {
  readonly root: string
  readonly directory: string
  /** The folder with SESSION.md and the workflows. */
  readonly stateRoot: string
  /** Where runs and launches are recorded. Without it the engine knows only what it saw itself. */
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
