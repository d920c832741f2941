/**
 * A server that leaves: it is not ready, tells its readers where to continue, ends its turns and hands its sessions over.
 */
import { setTimeout as delay } from "node:timers/promises"

import { openEngine } from "@meridian/engine"
import { parseObject } from "@meridian/protocol"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { beforeAll, expect } from "vitest"

import { directScene } from "../direct-scene.ts"
import { startServer } from "../e2e/server-process.ts"
import { conversation, gate, openEngineScene, scriptedModel, tool } from "../engine-scene.ts"
import { openHttpScene } from "../http-scene.ts"
import { openSse } from "../read-sse.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await delay(20)
}

const healthOf = async (url: string): Promise<readonly [number, unknown]> => {
  const answer = await fetch(url)
  return [answer.status, await answer.json()]
}

verifies("cluster.health", async () => {
  const working = gate()
  const leaving = new AbortController()
  await using scene = await openHttpScene([async () => (await working.pass(), { text: "done" })], {
    engine: { database: `${server}?schema=health` },
    signal: leaving.signal,
    drainMs: () => 60_000,
  })
  const { url, token } = scene.server
  const { sessions } = scene.client
  const { id: sessionID } = await sessions.create({ location: { directory: scene.directory } })
  expect(await healthOf(`${url}/health/live`)).toEqual([200, { live: true }])
  expect(await healthOf(`${url}/health/ready`)).toEqual([200, { ready: true }])
  await using reader = await openSse(`${url}/api/session/${sessionID}/event`, {
    authorization: `Bearer ${token}`,
  })
  await sessions.prompt({ sessionID, prompt: { text: "hello" } })
  await working.reached
  leaving.abort()
  const frames = await reader.until(({ event }) => event === "closed")
  const last = frames.findLast(({ id }) => id !== undefined)
  expect(parseObject(frames.at(-1)?.data ?? "")).toEqual({
    type: "closed",
    data: { reason: "server-stopping", after: Number(last?.id) },
  })
  expect(await healthOf(`${url}/health/live`)).toEqual([200, { live: true }])
  expect(await healthOf(`${url}/health/ready`)).toEqual([
    503,
    { ready: false, reason: "it hands its sessions over" },
  ])
  working.open()
  await scene.server.stopped
})

verifies("cluster.drain-file", async () => {
  const working = gate()
  const slow = tool("slow", () => working.pass())
  const answers = [{ tools: [{ name: "slow", input: {} }] }, { text: "later" }]
  await using scene = await openEngineScene(answers, { tools: [slow] })
  await scene.engine.sessions.prompt({ sessionID: "ses_test", prompt: { text: "work" } })
  await working.reached
  const closed = scene.engine.close({ drainMs: 60_000 })
  working.open()
  await closed
  expect(scene.requests).toHaveLength(1)
  const next = await scene.reopen()
  await next.sessions.wait("ses_test")
  expect(await conversation(next)).toEqual(["user: work", "slow: completed", "assistant: later"])
})

verifies("cluster.sigterm", async () => {
  const database = `${server}?schema=sigterm`
  const scene = await directScene({
    script: [
      { delayMs: 1_500, text: "in time" },
      { delayMs: 600_000, text: "never" },
    ],
  })
  const env = { ...scene.env, MERIDIAN_DATABASE: database }
  const start = (...args: readonly string[]) => startServer(scene.project, ["--port", "0", ...args], env)
  const first = await start("--drain", "60", "--workspace", `shared=${scene.project}`, "--sessions", "3")
  const ask = async (node: { readonly url: string; readonly token: string }, path: string, body: object) => {
    const answer = await fetch(`${node.url}/api/session${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${node.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(200)
    return parseObject(await answer.text())
  }
  await ask(first, "", { id: "ses_one", location: { directory: scene.project } })
  await ask(first, "/ses_one/prompt", { prompt: { text: "hello" } })
  await until(() => scene.asked().length > 0)
  expect(await first.end("SIGTERM")).toBe(0)
  expect(first.output()).toContain("handing them over")
  const looking = await openEngine({ database, models: [scriptedModel([])], worker: false })
  expect(await conversation(looking, "ses_one")).toEqual(["user: hello", "assistant: in time"])
  await looking.close()

  const second = await start()
  await ask(second, "/ses_one/prompt", { prompt: { text: "again" } })
  const asked = scene.asked().length
  await until(() => scene.asked().length > asked)
  process.kill(second.pid, "SIGTERM")
  await until(() => second.output().includes("handing them over"))
  expect(await second.end("SIGTERM")).toBe(0)
})
