/**
 * Corners between two features: a provider's own results after a switch, approvals from elsewhere, signals that came too
 * early.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine } from "@meridian/engine"
import { startScriptedProvider } from "@meridian/testkit"
import { expect, test } from "vitest"

import { createMachine } from "../engine-life.ts"
import {
  allEvents,
  conversation,
  eventTypes,
  gate,
  openEngineScene,
  scriptedModel,
  tool,
  untilEvent,
} from "../engine-scene.ts"

const sessionID = "ses_test"
const go = { sessionID, prompt: { text: "go" } } as const
const ASK = [{ action: "*", resource: "*", effect: "ask" }] as const
const act = { tools: [{ name: "act" }] } as const

test("a provider's own result goes to another model as text, without what only the provider can read", async () => {
  let asked = 0
  const provider = await startScriptedProvider({
    respond: () => {
      asked += 1
      return asked === 1
        ? { hosted: [{ query: "weather", results: [{ url: "http://a.test/sun" }] }], text: "sunny" }
        : { text: "ok" }
    },
  })
  const folder = mkdtempSync(join(tmpdir(), "meridian-hosted-"))
  const shared = { baseURL: `${provider.url}/v1`, apiKey: "key", contextWindow: 100_000, maxOutput: 1_000 }
  const engine = await openEngine({
    database: ":memory:",
    models: [
      { id: "w/one", model: "one", provider: "anthropic", ...shared },
      { id: "w/two", model: "two", provider: "openai", ...shared },
    ],
  })
  const { id } = await engine.sessions.create({ location: { directory: folder } })
  const ask = async (text: string): Promise<string> => {
    await engine.sessions.prompt({ sessionID: id, prompt: { text } })
    await engine.sessions.wait(id)
    return JSON.stringify(provider.requests.at(-1)?.body)
  }
  await ask("first")
  expect(await ask("again")).toContain("encrypted:http://a.test/sun")
  await engine.sessions.switchModel({ sessionID: id, model: "w/two" })
  const switched = await ask("with another")
  expect(switched).toContain("web_search ran with")
  expect(switched).toContain("http://a.test/sun")
  expect(switched).not.toContain("encrypted")
  await engine.close()
  await provider.close()
  rmSync(folder, { recursive: true, force: true })
})

test("an approval for always, given through another engine on the same database, answers here and is kept", async () => {
  await using scene = await openEngineScene([act, act], {
    permissions: ASK,
    tools: [tool("act", () => "acted")],
  })
  const { engine } = scene
  await engine.sessions.prompt(go)
  await untilEvent(engine, "permission.asked")
  const other = await openEngine({ ...scene.options, recover: false })
  const [request] = await other.permissions.list()
  await other.permissions.reply({ requestID: request?.id ?? "", reply: "always" })
  await other.close()
  await engine.sessions.wait(sessionID)
  expect(await conversation(engine)).toEqual([
    "user: go",
    "act: completed",
    "act: completed",
    "assistant: done",
  ])
  expect((await eventTypes(engine)).filter((type) => type === "permission.asked")).toHaveLength(1)
})

test("an approval for always belongs to the place it was asked in, wherever the session is by then", async () => {
  await using scene = await openEngineScene([act, { text: "moved" }, act, { text: "there" }, act], {
    permissions: ASK,
    tools: [tool("act", () => "acted")],
  })
  const { engine, directory, elsewhere } = scene
  await engine.sessions.prompt(go)
  const question = await untilEvent(engine, "permission.asked")
  await engine.sessions.move({ sessionID, location: { directory: elsewhere } })
  const requestID = question.type === "session.next.permission.asked.1" ? question.data.requestID : ""
  await engine.permissions.reply({ requestID, reply: "always" })
  await engine.sessions.wait(sessionID)
  const replied = (await allEvents(engine)).find(({ type }) => type === "session.next.permission.replied.1")
  expect(replied?.data).toMatchObject({ saved: { project: directory } })
  await engine.sessions.prompt(go)
  await untilEvent(engine, "permission.asked", 2)
  await engine.sessions.interrupt(sessionID)
  await engine.sessions.move({ sessionID, location: { directory } })
  await engine.sessions.prompt(go)
  await engine.sessions.wait(sessionID)
  expect((await eventTypes(engine)).filter((type) => type === "permission.asked")).toHaveLength(2)
})

test("work that was taken on and not gone on with when its process died shows as interrupted, until it is run", async () => {
  await using scene = await openEngineScene()
  await scene.engine.close()
  using machine = createMachine()
  const life = machine.start()
  const died = Promise.withResolvers<void>()
  let acted = false
  // Everything is settled then: the call has its outcome, and the turn that would show it is not recorded yet.
  const observe = (): string | Promise<string> => {
    if (!acted || life.isDead()) return "value"
    life.die()
    died.resolve()
    return new Promise<never>(() => undefined)
  }
  const options = {
    ...scene.options,
    models: [scriptedModel([act])],
    tools: [tool("act", () => (acted = true))],
    context: [{ key: "place", observe, baseline: (value: string) => value }],
  }
  const engine = await life.open(options)
  await engine.sessions.prompt(go)
  await died.promise
  const next = await machine.start().open(options)
  expect((await next.sessions.get(sessionID)).status).toBe("interrupted")
  expect((await eventTypes(next)).at(-1)).toBe("execution.failed")
  await next.sessions.run(sessionID)
  expect((await next.sessions.get(sessionID)).status).toBe("idle")
  await next.close()
})

test("a tool that does not listen when it is told to stop is waited for, and then gone on without", async () => {
  await using scene = await openEngineScene()
  await scene.engine.close()
  using machine = createMachine({ standsStill: true })
  const acting = gate()
  const options = { ...scene.options, models: [scriptedModel([act])], tools: [tool("act", acting.pass)] }
  const engine = await machine.until(machine.start().open(options))
  await engine.sessions.prompt(go)
  await acting.reached
  const interrupted = { is: false }
  const interrupting = engine.sessions.interrupt(sessionID).then(() => (interrupted.is = true))
  await machine.advance(4_000)
  expect(interrupted.is).toBe(false)
  await machine.until(interrupting)
  expect((await conversation(engine)).at(-1)).toBe("act: error")
  await machine.until(engine.close())
})

test("a signal that was aborted before it was given ends run, wait, compact and events at once", async () => {
  await using scene = await openEngineScene()
  const { sessions } = scene.engine
  const signal = AbortSignal.abort(new Error("too late"))
  await expect(sessions.run(sessionID, { signal })).rejects.toThrow("too late")
  await expect(sessions.wait(sessionID, { signal })).rejects.toThrow("too late")
  await expect(sessions.compact(sessionID, { signal })).rejects.toThrow("too late")
  const seen: unknown[] = []
  for await (const event of sessions.events({ sessionID, follow: true }, { signal })) seen.push(event)
  expect(seen).toEqual([])
  for await (const item of sessions.live(sessionID, { signal })) seen.push(item)
  expect([seen, scene.requests.length, (await sessions.get(sessionID)).seq]).toEqual([[], 0, 1])
})
