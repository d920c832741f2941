/** A node that leaves ends its turns and hands its sessions over. Other nodes continue them, and nothing is interrupted. */
import { openEngine } from "@meridian/engine"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { beforeAll, expect } from "vitest"

import { allEvents, conversation, gate, openEngineScene, scriptedModel, tool } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

const sessionID = "ses_test"

verifies("cluster.drain", async () => {
  const working = gate()
  const database = `${server}?schema=drain_turns`
  const slow = tool("slow", async () => {
    await working.pass()
    return "slowly done"
  })
  const answers = [{ tools: [{ name: "slow", input: {} }] }, { text: "by the first" }]
  await using scene = await openEngineScene(answers, { database, tools: [slow] })
  const models = [scriptedModel([{ text: "by the second" }])]
  const second = await openEngine({ ...scene.options, models, tools: [slow] })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "work" } })
  await working.reached
  const closed = scene.engine.close({ drainMs: 60_000 })
  expect(scene.engine.readiness()).toEqual({ ready: false, reason: expect.any(String) })
  working.open()
  await closed
  await second.sessions.wait(sessionID)
  expect(await conversation(second)).toEqual(["user: work", "slow: completed", "assistant: by the second"])
  const types = (await allEvents(second)).map(({ type }) => type)
  expect(types).toContain("session.next.activity.resumed.1")
  expect(types).not.toContain("session.next.execution.failed.1")
  expect(types).not.toContain("session.next.tool.failed.1")
  await second.close()
})

verifies("cluster.drain-late", async () => {
  const working = gate()
  const database = `${server}?schema=drain_late`
  await using scene = await openEngineScene([async () => (await working.pass(), { text: "late" })], {
    database,
  })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "work" } })
  await working.reached
  await scene.engine.close({ drainMs: 1 })
  const second = await openEngine({ ...scene.options, worker: false })
  const events = await allEvents(second)
  expect(events.at(-1)).toMatchObject({ data: { error: { code: "INTERRUPTED" } } })
  expect(await second.sessions.get(sessionID)).toMatchObject({ status: "interrupted" })
  await second.close()
})

verifies("cluster.drain-admits", async () => {
  const database = `${server}?schema=drain_admits`
  await using scene = await openEngineScene([], { database })
  await scene.engine.drain({ ms: 60_000 })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "hello" } })
  expect(await scene.engine.sessions.get(sessionID)).toMatchObject({
    status: "waiting",
    waitingFor: "worker",
    reason: "no node works on sessions now",
  })
  const second = await openEngine({ ...scene.options, models: [scriptedModel([])] })
  await scene.engine.sessions.wait(sessionID)
  expect(scene.requests).toEqual([])
  expect(await conversation(second)).toEqual(["user: hello", "assistant: done"])
  await second.close()
})
