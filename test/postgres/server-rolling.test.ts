/** What an operator does: restarts three servers behind a small balancer, one after the other, and no client notices. */
import { once } from "node:events"
import { connect, createServer, type AddressInfo } from "node:net"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine } from "@meridian/engine"
import { createClient } from "@meridian/server/client"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { beforeAll, expect, onTestFinished } from "vitest"

import { directScene } from "../direct-scene.ts"
import { startServer, type ServerProcess } from "../e2e/server-process.ts"
import { allEvents, scriptedModel } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

const TOKEN = "of-all-nodes-and-their-clients"

/** Hands each connection to the next server that is ready. */
const openBalancer = async (servers: () => readonly ServerProcess[]): Promise<number> => {
  let turn = 0
  const isReady = async ({ url }: ServerProcess): Promise<boolean> =>
    (await fetch(`${url}/health/ready`).catch(() => undefined))?.ok === true
  const pick = async (): Promise<ServerProcess> => {
    for (;;) {
      const all = servers()
      const next = all[(turn += 1) % all.length]
      if (next !== undefined && (await isReady(next))) return next
      await delay(20)
    }
  }
  const balancer = createServer((near) => {
    near.on("error", () => undefined)
    const join = ({ port }: ServerProcess): void => {
      const far = connect(port, "127.0.0.1")
      far.on("error", () => near.destroy())
      near.on("close", () => far.destroy())
      far.on("close", () => near.destroy())
      near.pipe(far).pipe(near)
    }
    void pick().then(join)
  })
  balancer.listen(0, "127.0.0.1")
  await once(balancer, "listening")
  onTestFinished(() => void balancer.close())
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
  return (balancer.address() as AddressInfo).port
}

verifies("cluster.rolling", async () => {
  const database = `${server}?schema=rolling`
  const prompts = 6
  const scene = await directScene({
    script: Array.from({ length: prompts }, (_, index) => ({ delayMs: 300, text: `answer ${index}` })),
  })
  let balancerPort = 0
  const start = () =>
    startServer(
      scene.project,
      ["--port", "0", "--drain", "60", "--allow-host", `127.0.0.1:${balancerPort}`],
      {
        ...scene.env,
        MERIDIAN_DATABASE: database,
        MERIDIAN_HTTP_TOKEN: TOKEN,
        MERIDIAN_CLUSTER_TOKEN: "of all nodes",
      },
    )
  const nodes: ServerProcess[] = []
  balancerPort = await openBalancer(() => nodes)
  for (let count = 0; count < 3; count += 1) nodes.push(await start())
  const client = createClient({ url: `http://127.0.0.1:${balancerPort}`, token: TOKEN })
  const { id: sessionID } = await client.sessions.create({ location: { directory: scene.project } })

  const seen: number[] = []
  const leaving = new AbortController()
  const reading = (async () => {
    for await (const event of client.events({ sessionID, signal: leaving.signal, reconnectMs: 20 }))
      if ("seq" in event) seen.push(event.seq)
  })()
  const prompting = (async () => {
    for (let count = 0; count < prompts; count += 1) {
      for (;;)
        try {
          await client.sessions.prompt({
            id: `msg_${count}`,
            sessionID,
            prompt: { text: `prompt ${count}` },
            delivery: "queue",
          })
          break
        } catch {
          // The connection was cut. The same prompt under the same id is stored once.
          await delay(20)
        }
      await delay(200)
    }
  })()
  for (let count = 0; count < 3; count += 1) {
    const old = nodes.shift()
    nodes.push(await start())
    expect(await old?.end("SIGTERM")).toBe(0)
  }
  await prompting
  const looking = await openEngine({ database, models: [scriptedModel([])], worker: false })
  await looking.sessions.wait(sessionID)
  const events = await allEvents(looking, sessionID)
  await looking.close()
  const last = events.length
  while (seen.at(-1) !== last) await delay(20)
  leaving.abort()
  await reading
  expect(seen).toEqual(Array.from({ length: last }, (_, index) => index + 1))
  const types = events.map(({ type }) => type)
  expect(types.filter((type) => type === "session.next.prompt.admitted.1")).toHaveLength(prompts)
  expect(types.filter((type) => type === "session.next.step.ended.2")).toHaveLength(prompts)
  expect(types).not.toContain("session.next.step.failed.2")
})
