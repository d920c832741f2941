/**
 * Carries out an undo that has begun. The process that began it does this, or the next one that takes up the session. A
 * file in neither its old nor its wanted state was changed by somebody else, so it stays.
 */
import type { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { OpenUndo } from "../domain/transcript/undoing.ts"
import { isSameEntry, type TreeChange, type TreeEntry } from "../domain/undo.ts"
import { FilePlaces, type FileTrees } from "../port/file-trees.ts"
import type { SessionHandle } from "./session-handle.ts"
import { Settings } from "./settings.ts"

export interface FinishedUndo {
  /** Files that are now in their wanted state. */
  readonly changed: readonly TreeChange[]
  /** Files that were left unchanged. */
  readonly left: readonly string[]
}

/** Does nothing when no undo has begun. */
export const finishUndo = (
  session: SessionHandle,
): Effect.Effect<FinishedUndo | undefined, Failure, FilePlaces | Settings> =>
  Effect.gen(function* () {
    const { open } = session.transcript().undoing
    if (open === undefined) return undefined
    const { at } = yield* FilePlaces
    const { places } = yield* Settings
    const finished = yield* Effect.promise(() =>
      becomeWanted(async () => at(places.directoryOf(open.location)), open),
    )
    const { undoID, action, from, conversation, files, redoes } = open
    yield* session.append([
      {
        type: "session.next.undo.ended.1",
        data: {
          undoID,
          action,
          from,
          conversation,
          files,
          changed: finished.changed.length,
          left: finished.left.slice(0, LIMITS.namedFiles),
          ...(redoes === undefined ? {} : { redoes }),
        },
      },
    ])
    return finished
  })

/** Never rejects: what cannot be changed is left and reported. */
const becomeWanted = async (at: () => Promise<FileTrees>, { trees }: OpenUndo): Promise<FinishedUndo> => {
  if (trees === undefined) return { changed: [], left: [] }
  let paths: readonly string[] = []
  try {
    const files = await at()
    const wanted = await files.compare(trees.now, trees.wanted)
    paths = wanted.map(({ path }) => path)
    const current = await files.read((await files.take(paths.map((path) => `${files.top}/${path}`))).tree)
    const isDone = ({ path, after }: TreeChange): boolean => isSameEntry(current.get(path), after)
    const isDue = ({ path, before }: TreeChange): boolean => isSameEntry(current.get(path), before)
    const due = wanted.filter((change) => !isDone(change) && isDue(change))
    if (due.length > 0)
      await files.write(
        await files.make(entriesOf(due.map(({ path, before }) => [path, before]))),
        await files.make(entriesOf(due.map(({ path, after }) => [path, after]))),
      )
    const changed = wanted.filter((change) => isDone(change) || isDue(change))
    const left = wanted.filter((change) => !changed.includes(change))
    return { changed, left: left.map(({ path }) => path) }
  } catch {
    return { changed: [], left: paths }
  }
}

export const entriesOf = (
  pairs: readonly (readonly [path: string, entry: TreeEntry | undefined])[],
): ReadonlyMap<string, TreeEntry> =>
  new Map(pairs.flatMap(([path, entry]) => (entry === undefined ? [] : [[path, entry] as const])))
