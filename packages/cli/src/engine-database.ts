/**
 * The engine's database as a command may open it: one that this user's trust book knows is recovered, any other is only
 * opened, so that nothing in it runs before a person acts.
 */
import { existsSync, mkdirSync } from "node:fs"
import { resolve } from "node:path"

import { Failure } from "@meridian/protocol"
import { keepOutOfGit, makePrivate } from "@meridian/server"
import { adoptDatabase, databaseId, databaseIn, judgeDatabase, openPlace, type World } from "@meridian/spaces"

import { noteEngineDatabase } from "./sessions/engine-databases.ts"

export interface EngineDatabase {
  readonly file: string
  /** Made elsewhere, or by somebody else: no recovery. */
  readonly isForeign: boolean
}

/** Makes the file when it is missing: private, out of git, and ours. `asked` is `--database`. */
export const openDatabase = async (asked: string | undefined, world: World): Promise<EngineDatabase> => {
  const { root } = openPlace(world.env, world.cwd)
  const file = asked === undefined ? databaseIn(root) : resolve(world.cwd, asked)
  const standing = judgeDatabase(file, world)
  if (asked === undefined) {
    mkdirSync(root, { recursive: true })
    keepOutOfGit(root)
  }
  noteEngineDatabase(file, world.env)
  if (standing === "foreign") {
    await tellForeign(file, world)
    return { file, isForeign: true }
  }
  if (standing === "new") {
    makePrivate(file)
    await giveId(file, world)
    await adoptDatabase(file, world)
  }
  return { file, isForeign: false }
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
  const file = asked === undefined ? databaseIn(openPlace(env, cwd).root) : resolve(cwd, asked)
  if (!existsSync(file)) throw new Failure("ENGINE_DATABASE_NOT_FOUND", { file })
  judgeDatabase(file, { env, cwd })
  return file
}

const tellForeign = async (file: string, world: World): Promise<void> => {
  const waiting = await world.pendingWork?.(file)
  if (waiting !== undefined) world.warn("DATABASE_FOREIGN", { file, waiting })
}
