/** Runs an engine's tests on a real Postgres. Every scene of this file gets its own schema. */
import { sharedPostgres } from "@meridian/testkit/shared-postgres"

export const useServer = async (): Promise<void> => {
  // oxlint-disable-next-line node/no-process-env -- read by `engine-scene.ts`
  process.env["MERIDIAN_SCENE_SERVER"] = await sharedPostgres()
}
