/**
 * Two real servers, one following the other. A failover keeps what was acknowledged, or the engine notices that it did not.
 */
import { openPostgres, type PostgresServer } from "@meridian/testkit/postgres-server"
import { afterEach, expect } from "vitest"

import { allEvents, openEngineScene } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const open: PostgresServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.remove()
})

const pair = async (settings: readonly string[] = []) => {
  const first = await openPostgres(["wal_level=replica", ...settings])
  open.push(first)
  const second = await first.standby()
  open.push(second)
  const [host, other] = [first, second].map(({ port }) => `127.0.0.1:${port}`)
  return { first, second, database: `postgres://meridian@${host},${other}/postgres?schema=pair` }
}

const sessionID = "ses_test"

verifies(
  "cluster.failover",
  async () => {
    const { first, second, database } = await pair(["synchronous_standby_names=*"])
    await using scene = await openEngineScene([], { database, limits: { leaseMs: 30_000 } })
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "one" } })
    await scene.engine.sessions.wait(sessionID)
    const before = await allEvents(scene.engine)
    await first.stop("crash")
    await second.promote()
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "two" } })
    await scene.engine.sessions.wait(sessionID)
    const after = await allEvents(scene.engine)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.filter(({ type }) => type === "session.next.step.ended.2")).toHaveLength(2)
  },
  "synchronous",
)

verifies(
  "cluster.failover",
  async () => {
    const { first, second, database } = await pair()
    await using scene = await openEngineScene([], { database, limits: { leaseMs: 30_000 } })
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "one" } })
    await scene.engine.sessions.wait(sessionID)
    await second.stop()
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "two" } })
    await scene.engine.sessions.wait(sessionID)
    await first.stop("crash")
    await second.start()
    await second.promote()
    await expect(allEvents(scene.engine)).rejects.toMatchObject({ code: "DATABASE_WENT_BACK" })
  },
  "asynchronous",
)
