/** Defects an audit of the built engine found, so that they stay away. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine, type Reply, type ScriptRequest } from "@meridian/engine"
import { startScriptedProvider } from "@meridian/testkit"
import { expect, test } from "vitest"

import { openScene } from "../layout/scene.ts"

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
