/** Runs an engine's tests on a real Postgres. Every scene of this file gets its own schema. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { Client } from "pg"
import { afterAll } from "vitest"

export const useServer = async (): Promise<void> => {
  // oxlint-disable-next-line node/no-process-env -- read by `engine-scene.ts`
  process.env["MERIDIAN_SCENE_SERVER"] = await sharedPostgres()
  const state = mkdtempSync(join(tmpdir(), "meridian-state-"))
  // What an engine keeps on its node is no business of the developer's home.
  // oxlint-disable-next-line node/no-process-env -- read by the engine
  process.env["XDG_STATE_HOME"] = state
  afterAll(() => rmSync(state, { recursive: true, force: true }))
}

/** What the server answers to one statement. */
export const askServer = async (
  address: string,
  sql: string,
): Promise<readonly Record<string, unknown>[]> => {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
