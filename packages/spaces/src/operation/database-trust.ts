/**
 * Whether an engine database is this user's own. A folder that came from somewhere else may bring one, with prompts that
 * wait and commands that were "approved"; nothing of it may run by itself.
 *
 * What is compared is the file itself (its number and when it was made) and the random id that a database we make carries
 * in its header (SQLite's application id). A file that git, tar or a person put in the place of ours is another file; one
 * that was written over ours has another id.
 */
import { closeSync, lstatSync, openSync, readSync, realpathSync, statSync } from "node:fs"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"

import { findEntry, putEntry, type TrustEntry } from "../domain/trust.ts"
import { openPlace } from "../store/place.ts"
import { changeTrustBook, readTrustBook } from "../store/trust-store.ts"
import { trustFile } from "../store/user-place.ts"
import { folderOf, type Folder } from "./folder-trust.ts"
import { isoTime } from "./state.ts"
import type { World } from "./world.ts"

export type DatabaseStanding = "new" | "own" | "foreign"

type TrustWorld = Pick<World, "env" | "cwd" | "uuid" | "clock">

export const databaseIn = (root: string): string => join(root, "engine.sqlite")

/** Throws STATE_NOT_PLAIN for a database of the state folder that is a link, a pipe or a device. */
export const judgeDatabase = (file: string, world: Pick<World, "env" | "cwd">): DatabaseStanding => {
  const isOfFolder = file === databaseIn(openPlace(world.env, world.cwd).root)
  const stats = (isOfFolder ? lstatSync : statSync)(file, { throwIfNoEntry: false })
  if (stats === undefined) return "new"
  if (!stats.isFile()) throw new Failure("STATE_NOT_PLAIN", { path: file })
  // Nothing was ever written to it: whoever made it cannot have left anything.
  if (stats.size === 0) return "new"
  const entry = findEntry(readTrustBook(world.env), ownerOf(file, world))
  return entry?.database !== undefined && entry.database === markOfFile(file) ? "own" : "foreign"
}

/** From now on it is ours. Where this user has no place for a trust book, it stays foreign. */
export const adoptDatabase = async (file: string, world: TrustWorld): Promise<void> => {
  if (trustFile(world.env) === undefined) return
  const owner = ownerOf(file, world)
  const database = markOfFile(file)
  if (database === undefined || findEntry(readTrustBook(world.env), owner)?.database === database) return
  const fresh: TrustEntry = { ...owner, id: world.uuid(), values: {}, at: isoTime(world.clock.now()) }
  await changeTrustBook(world.env, (book) => {
    const entry = findEntry(book, owner) ?? fresh
    // A book that is full of trusted folders stays as it is: then nothing is resumed by itself here.
    return putEntry(book, { ...entry, database }) ?? book
  })
}

/** Undefined when there is no such file. */
export const markOfFile = (file: string): string | undefined => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.ino}:${stats.birthtimeNs}:${idInside(file)}`
}

/** For `pragma application_id`: whoever makes a database gives it one of these. */
export const databaseId = ({ uuid }: Pick<World, "uuid">): number =>
  Number.parseInt(uuid().replaceAll("-", "").slice(0, 8), 16) & 0x7f_ff_ff_ff

/** Where the header of a SQLite database has its application id (https://sqlite.org/fileformat2.html). */
const ID_AT = 68

/** 0 when there is none yet. */
const idInside = (file: string): number => {
  const bytes = Buffer.alloc(4)
  const opened = openSync(file, "r")
  try {
    return readSync(opened, bytes, 0, bytes.length, ID_AT) < bytes.length ? 0 : bytes.readUInt32BE()
  } finally {
    closeSync(opened)
  }
}

/** The entry of the trust book that speaks of it: that of its folder, or one of its own for a file elsewhere. */
const ownerOf = (file: string, { env, cwd }: Pick<World, "env" | "cwd">): Folder => {
  const place = openPlace(env, cwd)
  if (file === databaseIn(place.root)) return folderOf(place)
  const path = realpathSync.native(file)
  return { path, owner: statSync(path).uid }
}
