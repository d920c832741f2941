/** Runs the tests of an engine on a real Postgres: every scene of this file gets a schema of its own there. */
import { sharedPostgres } from "@meridian/testkit/shared-postgres"

export const useServer = async (): Promise<void> => {
  // oxlint-disable-next-line node/no-process-env -- read by `engine-scene.ts`
  process.env["MERIDIAN_SCENE_SERVER"] = await sharedPostgres()
}
