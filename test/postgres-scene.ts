/** Runs the tests of an engine on a real Postgres: every scene of this file gets a schema of its own there. */
import { openPostgres } from "@meridian/testkit/postgres-server"
import { afterAll } from "vitest"

export const useServer = async (): Promise<void> => {
  const server = await openPostgres()
  // oxlint-disable-next-line node/no-process-env -- read by `engine-scene.ts`
  process.env["MERIDIAN_SCENE_SERVER"] = server.address
  afterAll(() => server.remove(), 60_000)
}
