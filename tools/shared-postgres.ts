/** For vitest's `globalSetup`: one Postgres for all tests of a run, started when the first test asks for it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { offerSharedPostgres } from "../packages/testkit/src/postgres/shared-server.ts"

export const setup = async (): Promise<() => Promise<void>> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-broker-"))
  const end = await offerSharedPostgres(folder)
  return async () => {
    await end()
    rmSync(folder, { recursive: true, force: true })
  }
}
