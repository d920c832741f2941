/** Rows of the runbook in `docs/guide/cluster.md` that have no other test of their own. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { createClient } from "@meridian/server/client"
import { openPostgres, type PostgresServer } from "@meridian/testkit/postgres-server"
import { afterAll, beforeAll, expect } from "vitest"

import { directScene } from "../direct-scene.ts"
import { startServer } from "../e2e/server-process.ts"
import { codeOf, conversation, gate, openEngineScene } from "../engine-scene.ts"
import { askServer } from "../postgres-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"

let server: PostgresServer
beforeAll(async () => {
  server = await openPostgres()
})
afterAll(() => server.remove())

const asked = (sql: string) => askServer(server.address, sql)

verifies("cluster.killed", async () => {
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: "echo act >> marks; sleep 600", description: "act" } }] },
      { text: "what waited" },
    ],
  })
  const env = {
    ...scene.env,
    MERIDIAN_DATABASE: `${server.address}?schema=killed`,
    MERIDIAN_HTTP_TOKEN: "the-token-of-this-cluster",
  }
  const start = () => startServer(scene.project, ["--port", "0", "--permission", "full-access"], env)
  const first = await start()
  const { sessions } = createClient({ url: first.url, token: first.token })
  await sessions.create({ id: "ses_one", location: { directory: scene.project } })
  await sessions.prompt({ sessionID: "ses_one", prompt: { text: "act" } })
  const marks = (): string => {
    try {
      return readFileSync(join(scene.project, "marks"), "utf8")
    } catch {
      return ""
    }
  }
  while (marks() === "") await delay(20)
  const second = await start()
  const there = createClient({ url: second.url, token: second.token })
  await there.sessions.prompt({ sessionID: "ses_one", prompt: { text: "later" }, delivery: "queue" })
  await first.end("SIGKILL")
  const said = async () => JSON.stringify((await there.sessions.messages({ sessionID: "ses_one" })).items)
  while (!(await said()).includes("what waited")) await delay(50)
  expect(await said()).toContain('"code":"interrupted"')
  expect(marks()).toBe("act\n")
  await second.end("SIGKILL")
})

verifies("cluster.restart", async () => {
  const working = gate()
  const database = `${server.address}?schema=restart`
  const limits = { limits: { leaseMs: 60_000 } }
  await using scene = await openEngineScene([async () => (await working.pass(), { text: "through it" })], {
    database,
    ...limits,
  })
  await using other = await openEngineScene([], { database, ...limits })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "hello" } })
  await working.reached
  const fence = async () => (await asked("select fence from restart.session"))[0]?.["fence"]
  const before = await fence()
  await server.stop("crash")
  await server.start()
  working.open()
  await other.engine.sessions.wait(sessionID)
  expect(await conversation(other.engine)).toEqual(["user: hello", "assistant: through it"])
  expect(await fence()).toBe(before)
  expect([scene.requests.length, other.requests.length]).toEqual([1, 0])
})

verifies("cluster.away", async () => {
  await using scene = await openEngineScene([], {
    database: `${server.address}?schema=away`,
    limits: { leaseMs: 1_000 },
  })
  const { engine } = scene
  await server.stop()
  const prompt = { id: "msg_1", sessionID, prompt: { text: "hello" } }
  expect(await codeOf(engine.sessions.prompt(prompt))).toBe("DATABASE_UNREACHABLE")
  while (engine.readiness().ready) await delay(20)
  expect(engine.readiness()).toMatchObject({ ready: false, reason: expect.stringContaining("database") })
  await server.start()
  while (!engine.readiness().ready) await delay(20)
  await engine.sessions.prompt(prompt)
  await engine.sessions.prompt(prompt)
  await engine.sessions.wait(sessionID)
  expect(await conversation(engine)).toEqual(["user: hello", "assistant: done"])
})
