/**
 * The engine's database as a command may open it: the project's, the one named by `--database` or MERIDIAN_DATABASE,
 * or a server. A file in this user's trust book is recovered. Any other is only opened, so that nothing in it runs
 * before a person acts. A server counts as trusted because the user named it.
 */
import { existsSync, mkdirSync } from "node:fs"
import { resolve } from "node:path"

import { isServerAddress, readAddress, requireKnownAddress } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { keepOutOfGit, makePrivate } from "@meridian/server"
import { adoptDatabase, databaseId, databaseIn, judgeDatabase, openPlace, type World } from "@meridian/spaces"

import { noteEngineDatabase } from "./sessions/engine-databases.ts"

export interface EngineDatabase {
  /** A file, or the address of a server. An address may contain a password, so it is never shown. */
  readonly file: string
  /** The name for output and records. */
  readonly name: string
  /** Made elsewhere or by another user, so there is no recovery. */
  readonly isForeign: boolean
}

/** Creates the file if it is missing: private, outside git, and ours. `asked` is `--database`. */
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

/** The requested database, for this command or for all commands of this user. */
const nameOf = (asked: string | undefined, env: World["env"]): string | undefined => {
  if (asked !== undefined && isServerAddress(asked) && readAddress(asked).password !== undefined)
    throw new Failure("DATABASE_PASSWORD")
  const wished = asked ?? env["MERIDIAN_DATABASE"] ?? ""
  if (wished === "") return undefined
  requireKnownAddress(wished)
  return wished
}

/** The requested server, for commands that need one. */
export const findServer = (asked: string | undefined, env: World["env"]): string => {
  const named = nameOf(asked, env)
  if (named === undefined || !isServerAddress(named)) throw new Failure("DATABASE_NO_SERVER")
  return named
}

/**
 * Written into its first page, before the engine keeps its own log. A second process that creates the same one does
 * no harm.
 */
const giveId = async (file: string, world: World): Promise<void> => {
  const { DatabaseSync } = await import("node:sqlite")
  const database = new DatabaseSync(file)
  try {
    database.exec(`pragma busy_timeout = 5000; pragma application_id = ${databaseId(world)}`)
  } finally {
    database.close()
  }
}

/** A database that must already exist, for reading. */
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
