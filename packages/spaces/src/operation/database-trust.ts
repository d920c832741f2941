/**
 * Whether an engine database is this user's own. A folder from elsewhere may bring one with waiting prompts and
 * "approved" commands. None of that may run without a person.
 *
 * We compare the file itself (its number and creation time) and the random id in the header of every database we make
 * (SQLite's application id). If git, tar or a person replaced our file, it is a different file. If its content was
 * overwritten, it has a different id.
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

/** Throws STATE_NOT_PLAIN if a database in the state folder is a link, a pipe or a device. */
export const judgeDatabase = (file: string, world: Pick<World, "env" | "cwd">): DatabaseStanding => {
  const isOfFolder = file === databaseIn(openPlace(world.env, world.cwd).root)
  const stats = (isOfFolder ? lstatSync : statSync)(file, { throwIfNoEntry: false })
  if (stats === undefined) return "new"
  if (!stats.isFile()) throw new Failure("STATE_NOT_PLAIN", { path: file })
  // It is still empty, so its creator cannot have left anything in it.
  if (stats.size === 0) return "new"
  const entry = findEntry(readTrustBook(world.env), ownerOf(file, world))
  return entry?.database !== undefined && entry.database === markOfFile(file) ? "own" : "foreign"
}

/** Makes it ours. If this user has no place for a trust book, it stays foreign. */
export const adoptDatabase = async (file: string, world: TrustWorld): Promise<void> => {
  if (trustFile(world.env) === undefined) return
  const owner = ownerOf(file, world)
  const database = markOfFile(file)
  if (database === undefined || findEntry(readTrustBook(world.env), owner)?.database === database) return
  const fresh: TrustEntry = { ...owner, id: world.uuid(), values: {}, at: isoTime(world.clock.now()) }
  await changeTrustBook(world.env, (book) => {
    const entry = findEntry(book, owner) ?? fresh
    // A book full of trusted folders stays as it is. Then nothing is resumed automatically here.
    return putEntry(book, { ...entry, database }) ?? book
  })
}

/** Undefined if the file does not exist. */
export const markOfFile = (file: string): string | undefined => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.ino}:${stats.birthtimeNs}:${idInside(file)}`
}

/** For `pragma application_id`: every new database gets one. */
export const databaseId = ({ uuid }: Pick<World, "uuid">): number =>
  Number.parseInt(uuid().replaceAll("-", "").slice(0, 8), 16) & 0x7f_ff_ff_ff

/** The offset of the application id in the header of a SQLite database (https://sqlite.org/fileformat2.html). */
const ID_AT = 68

/** 0 if there is none yet. */
const idInside = (file: string): number => {
  const bytes = Buffer.alloc(4)
  const opened = openSync(file, "r")
  try {
    return readSync(opened, bytes, 0, bytes.length, ID_AT) < bytes.length ? 0 : bytes.readUInt32BE()
  } finally {
    closeSync(opened)
  }
}

/** The database's entry in the trust book: that of its folder, or a separate one for a file elsewhere. */
const ownerOf = (file: string, { env, cwd }: Pick<World, "env" | "cwd">): Folder => {
  const place = openPlace(env, cwd)
  if (file === databaseIn(place.root)) return folderOf(place)
  const path = realpathSync.native(file)
  return { path, owner: statSync(path).uid }
}
