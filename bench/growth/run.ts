/**
 * What turns leave on a server: bytes of tables and of its log, for a small text turn and for one with a call.
 *
 *   node --conditions=meridian-source bench/growth/run.ts
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine } from "@meridian/engine"
import { openPostgres } from "@meridian/testkit/postgres-server"
import { Client } from "pg"

const TURNS = 400
const SESSIONS = 20

const directory = mkdtempSync(join(tmpdir(), "meridian-growth-"))
const server = await openPostgres([])
const client = new Client({ connectionString: server.address })
await client.connect()

const sizes = async (schema: string) => {
  await client.query("checkpoint")
  const { rows } = await client.query<{ tables: string; log: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as tables, pg_current_wal_lsn() - '0/0' as log
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind = 'r'`,
    [schema],
  )
  return { tables: Number(rows[0]?.tables), log: Number(rows[0]?.log) }
}

for (const kind of ["text", "tool"] as const) {
  const engine = await openEngine({
    database: `${server.address}?schema=${kind}`,
    models: [
      {
        id: "fake/one",
        provider: "scripted",
        contextWindow: 1_000_000,
        maxOutput: 8_000,
        script: ({ body }) => {
          const asksAgain =
            JSON.stringify(body).lastIndexOf('"tool"') > JSON.stringify(body).lastIndexOf('"user"')
          if (kind === "text" || asksAgain)
            return { text: "Done: the file is as you asked for, and its tests pass. ".repeat(5) }
          return { tools: [{ name: "read", input: { path: "README.md" } }] }
        },
      },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    undo: false,
  })
  const ids: string[] = []
  for (let count = 0; count < SESSIONS; count += 1)
    ids.push((await engine.sessions.create({ location: { directory } })).id)
  const turn = async (sessionID: string) => {
    await engine.sessions.prompt({
      sessionID,
      prompt: { text: "Please change the file as we said. ".repeat(3) },
    })
    await engine.sessions.wait(sessionID)
  }
  // The first turn of a session also leaves its baseline.
  await Promise.all(ids.map(turn))
  const before = await sizes(kind)
  for (let round = 0; round < TURNS / SESSIONS; round += 1) await Promise.all(ids.map(turn))
  const after = await sizes(kind)
  await engine.close()
  const per = (bytes: number): string => `${(bytes / TURNS / 1_000).toFixed(1)} KB`
  process.stdout.write(
    `${kind} turn: ${per(after.tables - before.tables)} of tables, ${per(after.log - before.log)} of log\n`,
  )
}
await client.end()
await server.remove()
rmSync(directory, { recursive: true, force: true })
