/** Who owns a session when no node can be sure. Each of these cases was broken on purpose, and its test failed. */
import { setTimeout as delay } from "node:timers/promises"

import { openEngine } from "@meridian/engine"
import { sessionId, type DurableEvent } from "@meridian/protocol"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { Effect, Layer } from "effect"
import { Client } from "pg"
import { beforeAll, expect } from "vitest"

import { Ids } from "../../packages/engine/src/port/ids.ts"
import { openPostgresStore } from "../../packages/engine/src/store/postgres/store.ts"
import { openProxy } from "../chaos/cuttable-proxy.ts"
import { conversation, openEngineScene, scriptedModel, tool, untilEvent } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

const asked = async (sql: string): Promise<void> => {
  const client = new Client({ connectionString: server })
  await client.connect()
  await client.query(sql)
  await client.end()
}

verifies("cluster.overdue", async () => {
  const database = `${server}?schema=overdue`
  await using scene = await openEngineScene([], { database, worker: false, limits: { leaseMs: 600 } })
  const worker = await openEngine({ ...scene.options, worker: {}, models: [scriptedModel([])] })
  await asked(
    "update overdue.session set fence = fence + 1, owner = (select id from overdue.worker where places > 0)",
  )
  await scene.engine.sessions.prompt({ sessionID: "ses_test", prompt: { text: "hello" } })
  await untilEvent(scene.engine, "step.ended")
  expect(await conversation(scene.engine)).toEqual(["user: hello", "assistant: done"])
  await worker.close()
})

verifies("cluster.stale-intent", async () => {
  let names = 0
  const ids = Layer.succeed(Ids, { next: (prefix) => `${prefix}${process.pid}_${(names += 1)}` })
  const outcome = await Effect.gen(function* () {
    const { store } = yield* openPostgresStore({ address: `${server}?schema=stale`, leaseMs: 60_000 })
    const time = 1
    const session = sessionId("ses_stale")
    const location = { directory: "/project" }
    const created: DurableEvent = { type: "session.next.created.1", data: { sessionID: session, location } }
    yield* store.append({ session, after: 0, time, events: [created], durability: "acknowledged" })
    const lease = yield* store.leases.acquire(session)
    if (lease.kind !== "acquired") throw new Error("it was free")
    const renamed: DurableEvent = { type: "session.next.renamed.1", data: { title: "about to act" } }
    const { fence } = lease
    const intent = yield* store.append({
      session,
      fence,
      after: 1,
      time,
      events: [renamed],
      durability: "act",
    })
    if (intent.kind !== "committed") throw new Error("it was stored")
    // Long enough for the lease to run out, and another owner has taken the session.
    yield* Effect.promise(() => asked("update stale.session set fence = fence + 1, owner = 'own_other'"))
    yield* Effect.promise(() => delay(1_100))
    return yield* Effect.match(intent.safe, { onSuccess: () => "acts", onFailure: ({ code }) => code })
  }).pipe(Effect.scoped, Effect.provide(ids), Effect.runPromise)
  expect(outcome).toBe("FENCED")
})

verifies("cluster.silent", async () => {
  const proxy = await openProxy(Number(new URL(server).port))
  const aborted = Promise.withResolvers<number>()
  const acting = Promise.withResolvers<void>()
  const long = tool("long", async (_input, { signal }) => {
    acting.resolve()
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve)
    })
    aborted.resolve(performance.now())
  })
  const options = { database: `${server}?schema=silent`, tools: [long], limits: { leaseMs: 2_000 } }
  await using scene = await openEngineScene([], { ...options, worker: false })
  const cutOff = await openEngine({
    ...scene.options,
    database: `postgres://meridian@127.0.0.1:${proxy.port}/postgres?schema=silent`,
    worker: {},
    models: [scriptedModel([{ tools: [{ name: "long", input: {} }] }])],
  })
  await scene.engine.sessions.prompt({ sessionID: "ses_test", prompt: { text: "hello" } })
  await acting.promise
  const other = await openEngine({ ...scene.options, worker: {}, models: [scriptedModel([])] })
  proxy.cut("both")
  const [endedAt, reportedAt] = await Promise.all([
    aborted.promise,
    untilEvent(scene.engine, "tool.failed").then(() => performance.now()),
  ])
  expect(endedAt).toBeLessThan(reportedAt)
  proxy.cut("none")
  await other.close()
  await cutOff.close()
  proxy.close()
})
