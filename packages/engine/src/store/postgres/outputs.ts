/** The full texts of long outputs: on the server, with working copies in a folder of this node. */
import { existsSync } from "node:fs"
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"

import type { Connection } from "./connection.ts"

export interface ServerOutputs {
  readonly keep: (name: string) => Promise<void>
  readonly fetch: (name: string) => Promise<void>
}

export const createOutputs = (connection: Connection, schema: string, folder: string): ServerOutputs => ({
  keep: async (name) => {
    const data = await readFile(join(folder, name))
    await connection.ask(
      `insert into ${schema}.output (name, data) values ($1, $2) on conflict (name) do update set data = excluded.data`,
      [name, data],
    )
  },
  fetch: async (name) => {
    const file = join(folder, name)
    if (existsSync(file)) return
    const [row] = await connection.ask(`select data from ${schema}.output where name = $1`, [name])
    const data = row?.["data"]
    if (!Buffer.isBuffer(data)) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Concurrent readers see the whole file or none.
    await writeFile(`${file}.part`, data, { mode: 0o600 })
    await rename(`${file}.part`, file)
  },
})
