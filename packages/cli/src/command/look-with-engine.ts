/** Opens the engine only to read, or to record a restore: nothing is run or recovered. */
import { openEngine, type Engine } from "@meridian/engine"
import type { World } from "@meridian/spaces"

import { findDatabase } from "../engine-database.ts"

/** `file`: a database other than the project's. Throws ENGINE_DATABASE_NOT_FOUND; none is created. */
export const lookWithEngine = async <Result>(
  file: string | undefined,
  world: Pick<World, "cwd" | "env">,
  look: (engine: Engine) => Promise<Result>,
): Promise<Result> => {
  const database = findDatabase(file, world)
  const engine = await openEngine({ database, models: [], recover: false, worker: false })
  try {
    return await look(engine)
  } finally {
    await engine.close()
  }
}
