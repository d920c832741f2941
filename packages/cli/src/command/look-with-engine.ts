/** Opens the engine only to look, or to record a restore: nothing is run or recovered. */
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"

import { openEngine, type Engine } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { openPlace, type World } from "@meridian/spaces"

/** `file`: another database than the one of this project. Throws ENGINE_DATABASE_NOT_FOUND; none is made. */
export const lookWithEngine = async <Result>(
  file: string | undefined,
  { cwd, env }: Pick<World, "cwd" | "env">,
  look: (engine: Engine) => Promise<Result>,
): Promise<Result> => {
  const database = file === undefined ? join(openPlace(env, cwd).root, "engine.sqlite") : resolve(cwd, file)
  if (!existsSync(database)) throw new Failure("ENGINE_DATABASE_NOT_FOUND", { file: database })
  const engine = await openEngine({ database, models: [], recover: false })
  try {
    return await look(engine)
  } finally {
    await engine.close()
  }
}
