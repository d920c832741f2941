/** A session runs on a node that has its workspace, and says why it waits when no node has it. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"

import { openEngine, type Engine } from "@meridian/engine"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { Client } from "pg"
import { beforeAll, expect, test } from "vitest"

import { allEvents, codeOf, gate, openEngineScene, scriptedModel } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

const WHERE = { tools: [{ name: "bash", input: { command: "pwd" } }] }

const resultOf = async (engine: Engine, session: string): Promise<string> =>
  JSON.stringify(
    (await allEvents(engine, session)).filter(({ type }) => type === "session.next.tool.success.1"),
  )

verifies("cluster.workspace", async () => {
  const database = `${server}?schema=offers`
  await using scene = await openEngineScene([], { database })
  const { sessions } = scene.engine
  const blue = join(scene.elsewhere, "blue")
  mkdirSync(join(blue, "app"), { recursive: true })
  await sessions.create({ id: "ses_blue", location: { directory: join(blue, "app"), workspace: "blue" } })
  await sessions.prompt({ sessionID: "ses_blue", prompt: { text: "hello" } })
  expect(await sessions.get("ses_blue")).toMatchObject({
    location: { workspace: "blue" },
    status: "waiting",
    waitingFor: "worker",
    reason: "no node offers the workspace blue",
  })
  expect((await sessions.list()).items.find(({ id }) => id === "ses_blue")?.waitingFor).toBe("worker")
  expect(
    await codeOf(scene.engine.sessions.prompt({ sessionID: "ses_test", prompt: { text: "mine" } })),
  ).toBe("no failure")
  await sessions.wait("ses_test")
  const other = await openEngine({
    ...scene.options,
    models: [scriptedModel([WHERE])],
    worker: { workspaces: { blue }, sessions: 2 },
  })
  await sessions.wait("ses_blue")
  expect(await sessions.get("ses_blue")).toMatchObject({ status: "idle" })
  expect(await resultOf(scene.engine, "ses_blue")).toContain(join(blue, "app"))
  expect(scene.requests).toHaveLength(1)
  await other.close()
})

verifies("cluster.workspace-lies", async () => {
  const database = `${server}?schema=lies`
  await using scene = await openEngineScene([], { database, worker: false })
  const [here, there] = [join(scene.elsewhere, "here"), join(scene.elsewhere, "there")]
  for (const root of [here, there]) mkdirSync(join(root, "app"), { recursive: true })
  const first = await openEngine({ ...scene.options, worker: { workspaces: { code: here } } })
  const location = { directory: join(here, "app"), workspace: "code" }
  expect(await first.sessions.create({ id: "ses_code", location })).toMatchObject({ location })
  expect(await codeOf(first.sessions.create({ location: { directory: "/", workspace: "code" } }))).toBe(
    "WORKSPACE_LEFT",
  )
  expect(await codeOf(first.sessions.create({ location: { directory: "../..", workspace: "code" } }))).toBe(
    "WORKSPACE_LEFT",
  )
  await first.sessions.prompt({ sessionID: "ses_code", prompt: { text: "hello" }, resume: false })
  await first.close()
  const second = await openEngine({
    ...scene.options,
    models: [scriptedModel([WHERE])],
    worker: { workspaces: { code: there } },
  })
  await scene.engine.sessions.run("ses_code")
  expect(await resultOf(scene.engine, "ses_code")).toContain(join(there, "app"))
  expect(await second.sessions.get("ses_code")).toMatchObject({
    location: { directory: join(there, "app"), workspace: "code" },
  })
  await second.close()
})

verifies("cluster.places", async () => {
  const database = `${server}?schema=full`
  const working = gate()
  await using scene = await openEngineScene([async () => (await working.pass(), { text: "first" })], {
    database,
    worker: { sessions: 1 },
  })
  const { sessions } = scene.engine
  await sessions.create({ id: "ses_second", location: { directory: scene.directory } })
  await sessions.prompt({ sessionID: "ses_test", prompt: { text: "one" } })
  await working.reached
  await sessions.prompt({ sessionID: "ses_second", prompt: { text: "two" } })
  const waiting = await sessions.get("ses_second")
  expect(waiting).toMatchObject({ status: "waiting", waitingFor: "worker" })
  expect(waiting.reason).toContain("as many sessions as it takes")
  expect(scene.requests).toHaveLength(1)
  working.open()
  await sessions.wait("ses_second")
  expect(scene.requests).toHaveLength(2)
})

test("a child works in the place of its parent, which waits for it", async () => {
  const database = `${server}?schema=family`
  const give = { name: "task", input: { description: "count", prompt: "count the files" } }
  const replies = [{ tools: [give] }, { text: "There are 7." }, { text: "done" }]
  await using scene = await openEngineScene(replies, { database, worker: { sessions: 1 } })
  const { sessions } = scene.engine
  await sessions.prompt({ sessionID: "ses_test", prompt: { text: "go" } })
  await sessions.wait("ses_test")
  expect(scene.requests).toHaveLength(3)
  expect(await sessions.children("ses_test")).toMatchObject([{ status: "idle" }])
})

verifies("cluster.asked-once", async () => {
  const database = `${server}?schema=asked`
  await using scene = await openEngineScene([], { database, worker: false })
  const requests: never[] = []
  const workers = await Promise.all(
    [1, 2, 3].map(() => openEngine({ ...scene.options, worker: {}, models: [scriptedModel([], requests)] })),
  )
  await scene.engine.sessions.run("ses_test")
  expect(requests).toHaveLength(1)
  for (const worker of workers) await worker.close()
})

verifies("cluster.format", async () => {
  const database = `${server}?schema=formats`
  await using scene = await openEngineScene([], { database, worker: false })
  const newer = new Client({ connectionString: server })
  await newer.connect()
  await newer.query("update formats.session set format = 2 where id = 'ses_test'")
  await newer.end()
  const worker = await openEngine({ ...scene.options, worker: {}, models: [scriptedModel([])] })
  await worker.sessions.prompt({ sessionID: "ses_test", prompt: { text: "hello" } })
  const { status, reason } = await worker.sessions.get("ses_test")
  expect([status, reason]).toEqual(["waiting", expect.stringContaining("newer Meridian")])
  expect(scene.requests).toEqual([])
  await worker.close()
})
