/** A real pooler that lends connections for one transaction at a time, where the machine has one; else what it does is played. */
import { spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { checkDatabase, openEngine } from "@meridian/engine"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { expect, onTestFinished } from "vitest"

import { requireOwnConnection } from "../../packages/engine/src/store/postgres/migrate.ts"
import { codeOf, scriptedModel } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const POOLER = "/usr/sbin/pgbouncer"
const NOBODY = 65_534
const MOST_ROUNDS = 20

/** Its address, with the server behind it. */
const openPooler = async (server: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-pooler-"))
  chmodSync(folder, 0o755)
  const { port } = new URL(server)
  const own = 20_000 + (process.pid % 20_000)
  writeFileSync(join(folder, "users.txt"), '"meridian" ""\n', { mode: 0o644 })
  writeFileSync(
    join(folder, "pooler.ini"),
    [
      "[databases]",
      `postgres = host=127.0.0.1 port=${port} dbname=postgres`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${own}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${join(folder, "users.txt")}`,
      "pool_mode = transaction",
      "default_pool_size = 4",
      "server_round_robin = 1",
      "ignore_startup_parameters = extra_float_digits",
    ].join("\n"),
    { mode: 0o644 },
  )
  const child = spawn(POOLER, [join(folder, "pooler.ini")], {
    stdio: "ignore",
    ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  onTestFinished(() => {
    child.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  })
  for (;;) {
    const socket = connect(own, "127.0.0.1")
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    })
    socket.destroy()
    if (isThere) return `postgres://meridian@127.0.0.1:${own}/postgres`
    if (child.exitCode !== null) throw new Error("the pooler did not start")
    await delay(50)
  }
}

verifies(
  "cluster.bad-server",
  async () => {
    const forgetful = async (sql: string) => (sql.includes("current_setting") ? [{ node: null }] : [])
    expect(await codeOf(requireOwnConnection(forgetful, "own_1", "postgres://db/x"))).toBe("DATABASE_POOLED")
    if (!existsSync(POOLER)) return
    const database = `${await openPooler(await sharedPostgres())}?schema=pooled`
    const options = { database, models: [scriptedModel([])], limits: { leaseMs: 1_000 } }
    // How it lends is its own affair. A node may get by for a moment; one that does not says why.
    let refused: readonly unknown[] = []
    for (let round = 0; round < MOST_ROUNDS && refused.length === 0; round += 1) {
      const opened = await Promise.allSettled([1, 2, 3, 4].map(() => openEngine(options)))
      refused = opened.flatMap((each) => (each.status === "rejected" ? [each.reason] : []))
      for (const each of opened)
        if (each.status === "fulfilled") await each.value.close().catch(() => undefined)
    }
    expect(refused).not.toEqual([])
    for (const reason of refused) expect(reason).toMatchObject({ code: "DATABASE_POOLED" })
    const findings = await checkDatabase(database).catch((cause: unknown) => [cause])
    expect(findings).toContainEqual(
      expect.toBeOneOf([
        expect.objectContaining({ code: "DATABASE_POOLED" }),
        expect.objectContaining({ name: "pooler", verdict: "bad" }),
        expect.objectContaining({ name: "hints", verdict: "warning" }),
      ]),
    )
  },
  "a pooler that lends a connection for one transaction",
)
