/** What this user's trust book says about the current folder. */
import { lstatSync, realpathSync } from "node:fs"

import { findEntry, type TrustEntry } from "../domain/trust.ts"
import type { StatePlace } from "../store/place.ts"
import { readTrustBook } from "../store/trust-store.ts"
import type { World } from "./world.ts"

export interface Folder {
  /** Canonical: one folder has one path, however it is reached. */
  readonly path: string
  readonly owner: number
}

export const folderOf = ({ project }: Pick<StatePlace, "project">): Folder => {
  const path = canonical(project)
  return { path, owner: lstatSync(path, { throwIfNoEntry: false })?.uid ?? NOBODY }
}

export const trustOf = (place: Pick<StatePlace, "project">, env: World["env"]): TrustEntry | undefined =>
  findEntry(readTrustBook(env), folderOf(place))

/** The user has allowed files of this folder to decide things. The entry lists which. */
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
