/** The trees of every place that an engine works in. Each is opened on first use and shared by all sessions there. */
import { Effect, Layer } from "effect"

import { FilePlaces, FilesProblem, type FileTrees } from "../port/file-trees.ts"
import { FILE_LIMITS } from "./limits.ts"
import { closePlace, openPlace, type FilePlace, type FilePlaceOptions } from "./open-place.ts"
import { openTrees } from "./open-trees.ts"
import { trimStore } from "./trim-store.ts"

export const filePlacesLayer = (options: FilePlaceOptions): Layer.Layer<FilePlaces> =>
  Layer.effect(
    FilePlaces,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => openPlaces(options)),
        ({ close }) => Effect.promise(close),
      ),
      ({ at }) => FilePlaces.of({ keeps: true, at }),
    ),
  )

/** Keeps nothing, so nothing can be undone. */
export const noFilePlaces: Layer.Layer<FilePlaces> = Layer.succeed(FilePlaces, {
  keeps: false,
  at: () => Promise.reject(new FilesProblem("this engine keeps no files (`undo: false`)")),
})

const openPlaces = (options: FilePlaceOptions) => {
  const opened = new Map<string, Promise<readonly [FilePlace, FileTrees]>>()
  const open = async (directory: string): Promise<readonly [FilePlace, FileTrees]> => {
    const place = await openPlace(directory, options)
    return [place, openTrees(place)]
  }
  return {
    at: async (directory: string): Promise<FileTrees> => {
      const found = opened.get(directory) ?? open(directory)
      opened.set(directory, found)
      // The next caller tries again.
      found.catch(() => opened.delete(directory))
      try {
        return (await found)[1]
      } catch (error) {
        throw error instanceof FilesProblem
          ? error
          : new FilesProblem(error instanceof Error ? error.message : String(error), { cause: error })
      }
    },
    close: async (): Promise<void> => {
      for (const settled of await Promise.allSettled(opened.values()))
        if (settled.status === "fulfilled") {
          closePlace(settled.value[0])
          // The next engine cleans up what could not be cleaned up now.
          await trimStore(settled.value[0], FILE_LIMITS.storeBytes).catch(() => undefined) // oxlint-disable-line eslint/no-await-in-loop -- one after the other: nobody waits for the second
        }
    },
  }
}
