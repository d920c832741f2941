/** Defects that an audit of the built engine found, so that they stay away. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine, type Reply, type ScriptRequest } from "@meridian/engine"
import { startScriptedProvider } from "@meridian/testkit"
import { expect, test } from "vitest"

import { isSummaryRequest, openScene } from "../layout/scene.ts"

const LONG = "lorem ipsum dolor sit amet ".repeat(200)

test("a summarising model with a much smaller window is asked, not skipped", async () => {
  const script = (request: ScriptRequest): Reply => ({
    text: request.lastText.endsWith("Write the checkpoint now.") ? "## Objective\n- small" : LONG,
  })
  const scripted = { provider: "scripted", script } as const
  await using scene = await openScene(() => ({}), {
    models: [
      { id: "a/one", ...scripted, contextWindow: 200_000, maxOutput: 4_000 },
      { id: "a/small", ...scripted, contextWindow: 16_000, maxOutput: 4_000 },
    ],
    model: "a/one",
    compaction: { model: "a/small", keepTokens: 1 },
  })
  for (const text of ["one", "two", "three", "four"]) await scene.ask(text)
  expect(await scene.engine.sessions.compact(scene.sessionID)).toMatchObject({ method: "model" })
})

test("one failed turn does not take the input behind it along", async () => {
  await using scene = await openScene((_request, n) => (n === 1 ? { error: "auth" } : { text: "ok" }))
  const { engine, sessionID } = scene
  const first = engine.sessions.prompt({ sessionID, prompt: { text: "one" } })
  const second = engine.sessions.prompt({ sessionID, prompt: { text: "two" }, delivery: "queue" })
  await Promise.all([first, second])
  await engine.sessions.wait(sessionID).catch(() => undefined)
  expect([await engine.sessions.inputs(sessionID), scene.requests.length]).toEqual([[], 2])
})

const AGENTS = [
  { name: "build", prompt: "You build." },
  {
    name: "plan",
    prompt: "You plan.",
    permissions: [{ action: "*", resource: "*", effect: "deny" }],
  },
] as const

test("a switch holds for every prompt that is admitted after it, also while a drain is just ending", async () => {
  let acted = 0
  let called = 0
  await using scene = await openScene(
    ({ lastText }) =>
      lastText === "only plan" && (called += 1) === 1 ? { tools: [{ name: "act" }] } : { text: LONG },
    {
      agents: AGENTS,
      compaction: { keepTokens: 300 },
      tools: [{ name: "act", description: "Acts.", input: {}, execute: () => String((acted += 1)) }],
    },
  )
  const { engine, sessionID } = scene
  for (const text of ["one", "two"]) await scene.ask(text)
  await engine.sessions.compact(sessionID)
  await engine.sessions.switchAgent({ sessionID, agent: "plan" })
  await engine.sessions.switchModel({ sessionID, model: "b/two" })
  await scene.ask("only plan")
  const steps = (await scene.events()).flatMap(({ type, data }) =>
    type === "session.next.step.started.1" ? [data] : [],
  )
  expect(steps.at(-1)).toMatchObject({ agent: "plan", model: "b/two" })
  expect(acted).toBe(0)
})

test("a switch that comes while the context is looked at is the one that counts", async () => {
  const looking = Promise.withResolvers<void>()
  const looked = Promise.withResolvers<void>()
  let looks = 0
  await using scene = await openScene(() => ({ text: "ok" }), {
    agents: AGENTS,
    context: [
      {
        key: "slow",
        baseline: "slow",
        observe: async () => {
          looks += 1
          if (looks !== 2) return 1
          looking.resolve()
          await looked.promise
          return 1
        },
      },
    ],
  })
  await scene.ask("one")
  const { engine, sessionID } = scene
  await engine.sessions.prompt({ sessionID, prompt: { text: "two" } })
  await looking.promise
  await engine.sessions.switchAgent({ sessionID, agent: "plan" })
  looked.resolve()
  await engine.sessions.wait(sessionID)
  expect(scene.requests.at(-1)?.system).toContain("You plan.")
})

test("half a character in a prompt reaches no provider", async () => {
  await using scene = await openScene(() => ({ text: "ok" }))
  await scene.ask("cut \ud83d here")
  expect(scene.requests[0]?.lastText).toBe("cut \ufffd here")
})

test("the brief of a compacted session goes along when it moves", async () => {
  await using scene = await openScene(
    (request) => ({ text: isSummaryRequest(request) ? "## Objective\n- go on" : LONG }),
    { compaction: { keepTokens: 300 } },
  )
  const { engine, sessionID } = scene
  for (const text of ["one", "two", "three"]) await scene.ask(text)
  await engine.sessions.compact(sessionID)
  await scene.ask("four")
  const before = scene.requests.at(-1)?.system ?? ""
  const elsewhere = mkdtempSync(join(tmpdir(), "meridian-elsewhere-"))
  await engine.sessions.move({ sessionID, location: { directory: elsewhere } })
  await scene.ask("five")
  const after = scene.requests.at(-1)?.system ?? ""
  const headings = (text: string) => text.match(/^## .*$/gm) ?? []
  expect(headings(before).length).toBeGreaterThan(0)
  expect(headings(after)).toEqual(headings(before))
  rmSync(elsewhere, { recursive: true, force: true })
})

test("a database of ours without one of its tables is damaged, and says so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-damaged-"))
  const options = { database: join(folder, "engine.sqlite"), models: [] }
  await (await openEngine(options)).close()
  const raw = new DatabaseSync(options.database)
  raw.exec("drop table message")
  raw.close()
  await expect(openEngine(options)).rejects.toMatchObject({ code: "DATABASE_DAMAGED" })
  rmSync(folder, { recursive: true, force: true })
})

test("reading a binary file does not poison a session on a compatible server", async () => {
  let asked = 0
  const provider = await startScriptedProvider({
    respond: () => {
      asked += 1
      return asked === 1 ? { tools: [{ name: "read", input: { path: "bin" } }] } : { text: "ok" }
    },
  })
  const folder = mkdtempSync(join(tmpdir(), "meridian-binary-"))
  writeFileSync(join(folder, "bin"), Buffer.from([0, 255, 1, 254]))
  const engine = await openEngine({
    database: ":memory:",
    models: [
      {
        id: "c/one",
        provider: "openai-compatible",
        baseURL: `${provider.url}/v1`,
        apiKey: "key",
        contextWindow: 100_000,
        maxOutput: 1_000,
      },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
  })
  const { id } = await engine.sessions.create({ location: { directory: folder } })
  await engine.sessions.prompt({ sessionID: id, prompt: { text: "look" } })
  await engine.sessions.wait(id)
  expect(asked).toBe(2)
  await engine.close()
  await provider.close()
  rmSync(folder, { recursive: true, force: true })
})
