/**
 * The engine's database as a command may open it: the one of the project, the one that `--database` or MERIDIAN_DATABASE
 * names, or a server. A file that this user's trust book knows is recovered, any other is only opened, so that nothing in
 * it runs before a person acts. A server is trusted by whoever named it.
 */
import { existsSync, mkdirSync } from "node:fs"
import { resolve } from "node:path"

import { isServerAddress, readAddress, requireKnownAddress } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { keepOutOfGit, makePrivate } from "@meridian/server"
import { adoptDatabase, databaseId, databaseIn, judgeDatabase, openPlace, type World } from "@meridian/spaces"

import { noteEngineDatabase } from "./sessions/engine-databases.ts"

export interface EngineDatabase {
  /** A file, or the address of a server. An address may hold a password: it is never shown. */
  readonly file: string
  /** As it may be shown and written down. */
  readonly name: string
  /** Made elsewhere, or by somebody else: no recovery. */
  readonly isForeign: boolean
}

/** Makes the file when it is missing: private, out of git, and ours. `asked` is `--database`. */
export const openDatabase = async (asked: string | undefined, world: World): Promise<EngineDatabase> => {
  const named = nameOf(asked, world.env)
  if (named !== undefined && isServerAddress(named))
    return { file: named, name: readAddress(named).shown, isForeign: false }
  const { root } = openPlace(world.env, world.cwd)
  const file = named === undefined ? databaseIn(root) : resolve(world.cwd, named)
  const standing = judgeDatabase(file, world)
  if (named === undefined) {
    mkdirSync(root, { recursive: true })
    keepOutOfGit(root)
  }
  noteEngineDatabase(file, world.env)
  if (standing === "foreign") {
    await tellForeign(file, world)
    return { file, name: file, isForeign: true }
  }
  if (standing === "new") {
    makePrivate(file)
    await giveId(file, world)
    await adoptDatabase(file, world)
  }
  return { file, name: file, isForeign: false }
}

/** What was asked for, here or for every command of this user. */
const nameOf = (asked: string | undefined, env: World["env"]): string | undefined => {
  if (asked !== undefined && isServerAddress(asked) && readAddress(asked).password !== undefined)
    throw new Failure("DATABASE_PASSWORD")
  const wished = asked ?? env["MERIDIAN_DATABASE"] ?? ""
  if (wished === "") return undefined
  requireKnownAddress(wished)
  return wished
}

/** The server that was asked for; a command that needs one says so. */
export const findServer = (asked: string | undefined, env: World["env"]): string => {
  const named = nameOf(asked, env)
  if (named === undefined || !isServerAddress(named)) throw new Failure("DATABASE_NO_SERVER")
  return named
}

/** In its first page, before the engine keeps a log of its own. A second process that makes the same one does no harm. */
const giveId = async (file: string, world: World): Promise<void> => {
  const { DatabaseSync } = await import("node:sqlite")
  const database = new DatabaseSync(file)
  try {
    database.exec(`pragma busy_timeout = 5000; pragma application_id = ${databaseId(world)}`)
  } finally {
    database.close()
  }
}

/** One that must be there already, to look into. */
export const findDatabase = (asked: string | undefined, { env, cwd }: Pick<World, "env" | "cwd">): string => {
  const named = nameOf(asked, env)
  if (named !== undefined && isServerAddress(named)) return named
  const file = named === undefined ? databaseIn(openPlace(env, cwd).root) : resolve(cwd, named)
  if (!existsSync(file)) throw new Failure("ENGINE_DATABASE_NOT_FOUND", { file })
  judgeDatabase(file, { env, cwd })
  return file
}

const tellForeign = async (file: string, world: World): Promise<void> => {
  const waiting = await world.pendingWork?.(file)
  if (waiting !== undefined) world.warn("DATABASE_FOREIGN", { file, waiting })
}
