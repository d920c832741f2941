/** Which files an undo changes, read from the kept trees. */
import { Failure, type Location } from "@meridian/protocol"
import { Effect } from "effect"

import type { FileTreePair } from "../domain/transcript/undoing.ts"
import {
  decideRestoring,
  type FileWindow,
  type TreeChange,
  type TurnChanges,
  type Wish,
} from "../domain/undo.ts"
import { FilePlaces, type FileTrees } from "../port/file-trees.ts"
import { entriesOf, Settings } from "../session/index.ts"

export interface RestoredFile {
  /** Relative to the top of the checkout, or to the place when there is no checkout. */
  readonly path: string
  readonly change: "added" | "changed" | "removed"
}

/** Fails with FILES_NOT_KEPT when git or a tree is missing. */
export const withFiles = <A>(
  location: Location | undefined,
  use: (files: FileTrees) => Promise<A>,
): Effect.Effect<A, Failure, FilePlaces | Settings> =>
  Effect.gen(function* () {
    const { at } = yield* FilePlaces
    const { places } = yield* Settings
    const directory = location === undefined ? "" : places.lookUp(location)
    return yield* Effect.tryPromise({
      try: async () => use(await at(places.directoryOf(location))),
      catch: (cause) =>
        cause instanceof Failure
          ? cause
          : new Failure(
              "FILES_NOT_KEPT",
              { directory, reason: cause instanceof Error ? cause.message : String(cause) },
              { cause },
            ),
    })
  })

/** The file changes of a turn. If its end was never recorded, any difference since may be its doing. */
export const changesOfTurn = async (files: FileTrees, window: FileWindow): Promise<TurnChanges> => {
  const { named, all } = window
  const changes = new Map<string, TreeChange>()
  let isDoubtful = false
  if (all.before !== undefined) {
    isDoubtful = all.after === undefined || all.after.shared
    const after = all.after?.tree ?? (await files.take()).tree
    const others = new Set(all.after?.others)
    for (const change of await files.compare(all.before.tree, after))
      if (!others.has(change.path)) changes.set(change.path, change)
  }
  if (named.before.length > 0) {
    const paths = [...new Set(named.before.flatMap((record) => record.paths))]
    isDoubtful ||= named.after === undefined
    const after = await files.read(
      named.after?.tree ?? (await files.take(paths.map((path) => `${files.top}/${path}`))).tree,
    )
    for (const { tree, paths: own } of named.before) {
      const before = await files.read(tree)
      for (const path of own) changes.set(path, { path, before: before.get(path), after: after.get(path) })
    }
  }
  return { changes: [...changes.values()], isDoubtful }
}

/**
 * The current and the wanted state of every file that differs; undefined when none differs. Refuses files that others have
 * changed since, unless they may be overwritten. Fails with FILES_CHANGED.
 */
export const planRestore = async (
  files: FileTrees,
  wishes: readonly Wish[],
  { overwrite }: { readonly overwrite: boolean },
): Promise<FileTreePair | undefined> => {
  const taken = await files.take(wishes.map(({ path }) => `${files.top}/${path}`))
  const now = await files.read(taken.tree)
  const { writes, changed } = decideRestoring(wishes, now)
  // What we cannot keep, we cannot restore either.
  const lost = new Set(taken.skipped)
  const refused = overwrite ? changed.filter((path) => lost.has(path)) : changed
  if (refused.length > 0)
    throw new Failure("FILES_CHANGED", {
      count: refused.length,
      files: refused.slice(0, MOST_NAMED).join("\n"),
    })
  if (writes.length === 0) return undefined
  return {
    now: await files.make(entriesOf(writes.map(({ path }) => [path, now.get(path)]))),
    wanted: await files.make(entriesOf(writes.map(({ path, to }) => [path, to]))),
  }
}

const MOST_NAMED = 100

export const changeOf = (wasThere: boolean, isThere: boolean): RestoredFile["change"] => {
  if (!wasThere) return "added"
  return isThere ? "changed" : "removed"
}
