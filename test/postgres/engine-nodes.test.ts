/**
 * Several nodes on one server: one admits what another runs, one takes over what another left, and faults lose nothing and
 * repeat nothing. MERIDIAN_FAULTS=200 makes more faults.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine } from "@meridian/engine"
import { openPostgres, type PostgresServer } from "@meridian/testkit/postgres-server"
import { afterAll, beforeAll, expect, test } from "vitest"

import { workerOptions } from "../crash/engine-worker.ts"
import { brokenLaws } from "../engine-laws.ts"
import { startEngineProcess, type EngineProcess } from "../engine-process.ts"
import { allEvents, gate, makeDirectory, openEngineScene, scriptedModel } from "../engine-scene.ts"
import { createRandom } from "../sim/random.ts"

/* oxlint-disable node/no-process-env -- the switches of this test */
const faults = Number(process.env["MERIDIAN_FAULTS"] ?? 8)
const seed = Number(process.env["MERIDIAN_SIM_SEED"] ?? 1)
/* oxlint-enable node/no-process-env */

const LEASE_MS = 2_000
const sessionID = "ses_test"

let server: PostgresServer
beforeAll(async () => {
  server = await openPostgres()
})
afterAll(() => server.remove())

test("a prompt that one node admits is run by another, and both see the answer", async () => {
  const database = `${server.address}?schema=admits`
  await using scene = await openEngineScene([], { database, worker: false })
  const worker = await openEngine({ ...scene.options, worker: { sessions: 2 }, models: [scriptedModel([])] })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "hello" } })
  await scene.engine.sessions.wait(sessionID)
  const types = (await allEvents(scene.engine)).map(({ type }) => type)
  expect(types).toContain("session.next.step.ended.2")
  expect(types).toEqual((await allEvents(worker)).map(({ type }) => type))
  expect(scene.requests).toEqual([])
  await worker.close()
})

test("a node that runs nothing has others run, wake and interrupt, and says when there is nobody", async () => {
  const database = `${server.address}?schema=asks`
  const asking = gate()
  const answers = [
    { text: "first" },
    { text: "second" },
    async () => {
      await asking.pass()
      return { text: "third" }
    },
  ]
  await using scene = await openEngineScene([], { database, worker: false, limits: { leaseMs: 1_000 } })
  const { sessions } = scene.engine
  await expect(sessions.run(sessionID)).rejects.toMatchObject({ code: "NO_WORKER" })
  const models = [scriptedModel(answers)]
  const worker = await openEngine({ ...scene.options, worker: { sessions: 2 }, models })
  await sessions.run(sessionID)
  await sessions.prompt({ sessionID, prompt: { text: "later" }, resume: false })
  await sessions.wake(sessionID)
  while ((await sessions.inputs(sessionID)).length > 0) await delay(10)
  await sessions.wait(sessionID)
  await sessions.prompt({ sessionID, prompt: { text: "long" } })
  await asking.reached
  await sessions.interrupt(sessionID)
  const said = (await allEvents(scene.engine)).flatMap((event) => {
    if (event.type === "session.next.text.ended.1") return [event.data.text]
    return event.type === "session.next.step.failed.2" ? [event.data.error.code] : []
  })
  expect(said).toEqual(["first", "second", "INTERRUPTED"])
  expect(scene.requests).toEqual([])
  await worker.close()
})

test(
  `${faults} faults among three nodes and their server lose nothing and repeat nothing`,
  { timeout: 120_000 + faults * 20_000 },
  async () => {
    const base = makeDirectory()
    const directory = join(base, "project")
    mkdirSync(directory)
    const database = `${server.address}?schema=faults`
    const random = createRandom(seed)
    const start = (): EngineProcess =>
      startEngineProcess({ database, directory, mode: "work", leaseMs: LEASE_MS })
    const nodes = [start(), start(), start()]
    const ended: EngineProcess[] = []

    const make: Record<string, (index: number) => Promise<void>> = {
      kill: async (index) => {
        const [killed] = nodes.splice(index, 1, start())
        if (killed === undefined) return
        await killed.kill()
        ended.push(killed)
      },
      freeze: async (index) => {
        nodes[index]?.child.kill("SIGSTOP")
        await delay(LEASE_MS * 1.5)
        nodes[index]?.child.kill("SIGCONT")
      },
      crash: async () => {
        await server.stop("crash")
        await server.start()
      },
      restart: async () => {
        await server.stop()
        await server.start()
      },
    }
    const kinds = Object.keys(make)
    for (let fault = 0; fault < faults; fault += 1) {
      await Promise.all(nodes.map((node) => node.said("acked")))
      await delay(random.below(400))
      await make[kinds[fault % kinds.length] ?? "kill"]?.(random.below(nodes.length))
    }
    for (const node of nodes) {
      await node.kill()
      ended.push(node)
    }

    const engine = await openEngine(workerOptions({ database, directory, leaseMs: LEASE_MS }))
    await delay(LEASE_MS * 2)
    await engine.sessions.wait(sessionID)
    await engine.sessions.run(sessionID)
    const events = await allEvents(engine)
    await engine.close()

    const acked = ended.flatMap(({ lines }) =>
      lines.filter((line) => line.startsWith("acked ")).map((line) => line.slice(6)),
    )
    const admitted = new Set(
      events.flatMap((event) =>
        event.type === "session.next.prompt.admitted.1" ? [String(event.data.messageID)] : [],
      ),
    )
    const marks = join(directory, "marks")
    const started = (existsSync(marks) ? readFileSync(marks, "utf8").split("\n") : []).filter((line) =>
      line.startsWith("start "),
    )
    process.stdout.write(
      `${faults} faults: ${acked.length} prompts acknowledged, ${started.length} acts, ${events.length} events\n`,
    )
    expect(acked.filter((id) => !admitted.has(id))).toEqual([])
    expect(started.length - new Set(started).size).toBe(0)
    expect(brokenLaws(events)).toEqual([])
    expect(started.length).toBeGreaterThan(faults / 2)
    rmSync(base, { recursive: true, force: true })
  },
)
