import { openEngine } from "@meridian/engine"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
/** What a session writes on one node appears on another at the same time. */
import { Client } from "pg"
import { afterEach, beforeAll, expect, vi } from "vitest"

import { openSpanFold } from "../../packages/server/src/telemetry/fold-spans.ts"
import { allEvents, codeOf, gate, openEngineScene, scriptedModel } from "../engine-scene.ts"
import { openHttpScene } from "../http-scene.ts"
import { openSse } from "../read-sse.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})
afterEach(() => vi.unstubAllEnvs())

verifies("cluster.live", async () => {
  const working = gate()
  const engine = { database: `${server}?schema=live` }
  const slow = async () => {
    await working.pass()
    return { text: "word by word ", times: 40, chunks: 40, chunkMs: 5 }
  }
  await using owner = await openHttpScene([slow], { engine })
  await using other = await openHttpScene([], { engine: { ...engine, worker: false } })
  const { sessions } = other.client
  const { id: sessionID } = await sessions.create({ location: { directory: owner.directory } })
  await sessions.prompt({ sessionID, prompt: { text: "hello" } })
  await working.reached
  const follow = () =>
    openSse(`${other.server.url}/api/session/${sessionID}/event?live=true`, {
      authorization: `Bearer ${other.server.token}`,
    })
  await using first = await follow()
  await using second = await follow()
  const streams = () => owner.server.streams()
  await vi.waitFor(() => expect(streams()).toBe(1), { timeout: 30_000 })
  working.open()
  for (const reader of [first, second]) {
    const frames = await reader.until(({ event }) => event === "live")
    expect(frames.at(-1)?.data).toContain("word by word")
  }
  expect(streams()).toBe(1)
  const refused = await fetch(`${owner.server.url}/api/session/${sessionID}/live`, {
    headers: { authorization: "Bearer no-token-of-this-cluster" },
  })
  expect(refused.status).toBe(401)
  await sessions.wait({ sessionID })
})

verifies("cluster.token", async () => {
  const database = `${server}?schema=tokens`
  vi.stubEnv("MERIDIAN_CLUSTER_TOKEN", "of the first cluster")
  await using scene = await openEngineScene([], { database })
  vi.stubEnv("MERIDIAN_CLUSTER_TOKEN", "of another")
  expect(await codeOf(openEngineScene([], { database }))).toBe("CLUSTER_TOKEN")
  vi.stubEnv("MERIDIAN_CLUSTER_TOKEN", undefined)
  expect(await codeOf(openEngineScene([], { database }))).toBe("CLUSTER_TOKEN")
  const client = new Client({ connectionString: server })
  await client.connect()
  const { rows } = await client.query("select token from tokens.store")
  await client.end()
  expect(JSON.stringify(rows)).not.toContain("of the first cluster")
  await scene.engine.close()
})

verifies("cluster.trace", async () => {
  const database = `${server}?schema=traces`
  await using admitting = await openHttpScene([], { engine: { database, worker: false } })
  await using working = await openHttpScene([{ text: "done" }], { engine: { database } })
  const { id: sessionID } = await admitting.client.sessions.create({
    location: { directory: working.directory },
  })
  const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"]
  const answer = await admitting.ask(`/api/session/${sessionID}/prompt`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent: `00-${trace}-${parent}-01` },
    body: JSON.stringify({ prompt: { text: "hello" } }),
  })
  expect(answer.status).toBe(200)
  await admitting.client.sessions.wait({ sessionID })
  const fold = openSpanFold({ session: sessionID, content: false })
  const looking = await openEngine({ database, models: [scriptedModel([])], worker: false })
  const events = await allEvents(looking, sessionID)
  await looking.close()
  const spans = events.flatMap((event) => fold.event(event))
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([trace]))
  expect(spans.map(({ parentSpanId }) => parentSpanId)).toContain(parent)
  expect(spans.map(({ name }) => name)).toContain("invoke_agent build")
})
