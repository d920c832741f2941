/**
 * Updates the index to the sources: adds what is new, removes what is gone, and does not open what did not change.
 * Work is committed in pieces, so a stopped search loses little and the next one continues.
 */
import type { DatabaseSync } from "node:sqlite"

import type { Engines } from "../sessions/engine-store.ts"
import type { HarnessPlaces } from "../sessions/harness-places.ts"
import { keptFiles } from "../sessions/kept-files.ts"
import { databaseStamp } from "../sessions/open-read-only.ts"
import { IndexFailure, openIndexWriter } from "./index-writer.ts"
import { fileStamp, updateFile, type Breathe } from "./update-file.ts"
import { updateStore, type KeptStore } from "./update-store.ts"

export interface UpdateOptions {
  readonly places: HarnessPlaces
  readonly engines: Engines
  readonly signal: AbortSignal
  /** Bytes of session files read so far, and bytes to read in total. */
  readonly progress: (done: number, all: number) => void
}

export interface Update {
  /** Sources that cannot be read. Their old entries stay in the index. */
  readonly unreadable: readonly string[]
  /** It was stopped before everything was read. */
  readonly isPartial: boolean
}

export const updateIndex = async (database: DatabaseSync, options: UpdateOptions): Promise<Update> => {
  const index = openIndexWriter(database)
  const files = keptFiles(options.places)
  const stores = keptStores(options)
  const unreadable: string[] = []
  index.begin()
  index.keepSources(new Set([...files, ...stores].map(({ path }) => path)))
  const dueFiles = files.filter((file) => index.sourceOf(file.path)?.stamp !== fileStamp(file))
  const dueStores = stores.filter(
    ({ path, stamp }) => stamp === undefined || index.sourceOf(path)?.stamp !== stamp,
  )
  const all = dueFiles.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  const breathe = openBreathing(options.signal)
  const orUnreadable = async (path: string, work: () => Promise<void>): Promise<void> => {
    try {
      if (!options.signal.aborted) await work()
    } catch (error) {
      if (error instanceof IndexFailure) throw error
      unreadable.push(path)
    }
  }
  for (const store of dueStores)
    await orUnreadable(store.path, () => updateStore(store, { index, engines: options.engines, breathe }))
  for (const file of dueFiles)
    await orUnreadable(file.path, () =>
      updateFile(index, file, (bytes) => {
        done += bytes
        options.progress(Math.min(done, all), all)
        return breathe(bytes)
      }),
    )
  index.commit()
  return { unreadable, isPartial: options.signal.aborted }
}

const keptStores = ({ places, engines }: UpdateOptions): readonly KeptStore[] =>
  [
    { path: places.opencode, keeper: "opencode" as const },
    ...engines.paths.map((path) => ({ path, keeper: "engine" as const })),
  ].flatMap(({ path, keeper }) => {
    const stamp = databaseStamp(path)
    return stamp === undefined && path !== engines.server ? [] : [{ path, keeper, stamp }]
  })

const BREATH_BYTES = 4 * 1024 * 1024

/** Reading is one long computation; a signal is only heard when it pauses. */
const openBreathing = (signal: AbortSignal): Breathe => {
  let since = 0
  return async (bytes) => {
    since += bytes
    if (since >= BREATH_BYTES) {
      since = 0
      await new Promise<void>((resume) => setImmediate(resume))
    }
    return !signal.aborted
  }
}
