/** What this user's trust book says of the folder at hand. */
import { lstatSync, realpathSync } from "node:fs"

import { findEntry, type TrustEntry } from "../domain/trust.ts"
import type { StatePlace } from "../store/place.ts"
import { readTrustBook } from "../store/trust-store.ts"
import type { World } from "./world.ts"

export interface Folder {
  /** Canonical: however a folder is reached, it is the same one. */
  readonly path: string
  readonly owner: number
}

export const folderOf = ({ project }: Pick<StatePlace, "project">): Folder => {
  const path = canonical(project)
  return { path, owner: lstatSync(path, { throwIfNoEntry: false })?.uid ?? NOBODY }
}

export const trustOf = (place: Pick<StatePlace, "project">, env: World["env"]): TrustEntry | undefined =>
  findEntry(readTrustBook(env), folderOf(place))

/** The user has said that files of this folder may decide things; which, the entry says. */
export const isTrusted = (place: Pick<StatePlace, "project">, env: World["env"]): boolean =>
  trustOf(place, env) !== undefined

/** No user has this id. */
const NOBODY = -1

const canonical = (path: string): string => {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
