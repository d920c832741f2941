/**
 * The newest sessions that other harnesses keep on this machine, for shell completion. It only opens the search
 * index, which has their titles and folders. A session the index has not seen yet appears by its name alone.
 */
import { join } from "node:path"

import { cacheFolder, harnessPlaces } from "./harness-places.ts"
import { keptFiles } from "./kept-files.ts"
import { nameInPath } from "./name-in-path.ts"
import { databaseStamp, openReadOnly } from "./open-read-only.ts"
import { opencodeSessions } from "./opencode-store.ts"
import { sessionName } from "./session-name.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface KeptName {
  readonly name: string
  readonly changed: number
  readonly title?: string
  /** Undefined if the index has not seen it. */
  readonly directory?: string
}

/** Newest first. Empty for a database that cannot be read. */
export const keptNames = (env: Environment, most: number): readonly KeptName[] => {
  const places = harnessPlaces(env)
  const ofFiles = describe(
    keptFiles(places)
      .slice(0, most)
      .map(({ keeper, path, changed }) => ({ keeper, path, changed, id: nameInPath(path) })),
    env,
  )
  return [...ofFiles, ...ofOpencode(places.opencode)]
    .toSorted((one, other) => other.changed - one.changed)
    .slice(0, most)
}

interface NamedFile {
  readonly keeper: "claude" | "codex" | "pi"
  readonly path: string
  readonly changed: number
  readonly id: string
}

const describe = (files: readonly NamedFile[], env: Environment): readonly KeptName[] => {
  const index = join(cacheFolder(env), "search.sqlite")
  const bare = ({ keeper, id, changed }: NamedFile): KeptName => ({
    name: sessionName({ keeper, id }),
    changed,
  })
  if (files.length === 0 || databaseStamp(index) === undefined) return files.map(bare)
  try {
    using database = openReadOnly(index)
    const about = database.prepare(
      "select title, directory from session join source on source.id = session.source where path = ?",
    )
    return files.map((file) => {
      const { title, directory } = about.get(file.path) ?? {}
      return {
        ...bare(file),
        ...(typeof title === "string" ? { title } : {}),
        ...(typeof directory === "string" ? { directory } : {}),
      }
    })
  } catch {
    // Another version, or damaged: the next search rebuilds it.
    return files.map(bare)
  }
}

const ofOpencode = (path: string): readonly KeptName[] => {
  if (databaseStamp(path) === undefined) return []
  try {
    using database = openReadOnly(path)
    return opencodeSessions(database).map(({ id, title, directory, updated }) => ({
      name: sessionName({ keeper: "opencode", id }),
      changed: updated,
      title,
      directory,
    }))
  } catch {
    // Another version, or damaged.
    return []
  }
}
