/** Runs an engine's tests on a real Postgres. Every scene of this file gets its own schema. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { sharedPostgres } from "@meridian/testkit/shared-postgres"

export const useServer = async (): Promise<void> => {
  // oxlint-disable-next-line node/no-process-env -- read by `engine-scene.ts`
  process.env["MERIDIAN_SCENE_SERVER"] = await sharedPostgres()
  // What an engine keeps on its node is no business of the developer's home.
  // oxlint-disable-next-line node/no-process-env -- read by the engine
  process.env["XDG_STATE_HOME"] = mkdtempSync(join(tmpdir(), "meridian-state-"))
}
