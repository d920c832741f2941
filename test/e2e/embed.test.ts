/** The built package as an embedding program sees it: code, declarations, the example. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { expect, test } from "vitest"

const root = resolve(import.meta.dirname, "../..")

test("the example runs without a key, a flag or a loader, and shows a whole turn", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["examples/embed.ts"], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
  })
  expect(stderr).toBe("")
  expect(status).toBe(0)
  const lines = stdout.trim().split("\n")
  expect(lines[0]).toBe("admitted as event 2")
  expect(lines.slice(-4)).toEqual([
    "user: How is the weather in Lisbon?",
    "model: I look at the sky.",
    "weather: completed",
    "model: It is sunny in Lisbon.",
  ])
})

/** Compiles a program against the built declarations only, with none of this project's settings or sources. */
const compile = (program: string): readonly string[] => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "meridian-types-")))
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"))
  writeFileSync(join(directory, "program.ts"), program)
  writeFileSync(join(directory, "package.json"), '{"type":"module"}')
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2024",
    types: ["node"],
    exactOptionalPropertyTypes: true,
  }
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.json"], {
    cwd: directory,
    encoding: "utf8",
  })
  rmSync(directory, { recursive: true, force: true })
  return stdout.split("\n").filter((line) => line.includes("program.ts") || line.includes("packages/"))
}

const PROGRAM = `
import { openEngine, type Engine, type EngineOptions, type SessionEvent } from "@meridian/engine"

const options: EngineOptions = {
  database: ":memory:",
  models: [{ id: "fake/one", provider: "openai-compatible", baseURL: "http://127.0.0.1:1/v1", apiKey: "x", model: "one", contextWindow: 200_000, maxOutput: 8_000 }],
  model: "fake/one",
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
  tools: [{ name: "t", description: "d", input: { type: "object" }, execute: async (_input: { a: number }, { sessionID, signal }) => sessionID + String(signal.aborted) }],
  limits: { pendingInputs: 1, steerBatch: 1, turnsPerActivity: 1, leaseMs: 1 },
  retry: { attempts: 1, baseMs: 1 },
}
const engine: Engine = await openEngine(options)
const session = await engine.sessions.create({ id: "a", location: { directory: "/" } })
const id: string = session.id
const receipt = await engine.sessions.prompt({ sessionID: id, prompt: { text: "x" }, delivery: "queue", resume: false })
const seq: number = receipt.admittedSeq
const { signal } = new AbortController()
await engine.sessions.wait(id, { signal })
await engine.sessions.run(id, { signal })
await engine.sessions.interrupt(id)
const active: readonly string[] = await engine.sessions.active()
for await (const event of engine.sessions.events({ sessionID: id, after: seq, follow: true }, { signal })) {
  const seen: SessionEvent = event
  if (seen.type === "session.next.tool.called.1") { const tool: string = seen.data.tool; void tool }
  if ("seq" in seen) { const at: number = seen.seq; void at }
}
const page = await engine.sessions.messages({ sessionID: id, limit: 10, order: "desc" })
const next: string | undefined = page.next
for (const message of page.items) if (message.type === "user") { const text: string = message.text; void text }
for (const input of await engine.sessions.inputs(id)) await engine.sessions.cancel({ sessionID: id, id: input.id })
await engine.sessions.switchModel({ sessionID: id, model: "fake/one" })
await engine.sessions.switchAgent({ sessionID: id, agent: "plan" })
await engine.sessions.move({ sessionID: id, location: { directory: "/" } })
for (const request of await engine.permissions.list({ sessionID: id })) {
  const asked: [string, string, string] = [request.id, request.action, request.resource]
  void asked
  await engine.permissions.reply({ requestID: request.id, reply: "reject", message: "no" })
}
await engine.close()
void [active, next]
`

test("its declarations describe the public face, and need none of our sources", () => {
  expect(compile(PROGRAM)).toEqual([])
})

test("its declarations refuse what the engine would refuse", () => {
  const wrong = PROGRAM.replace('delivery: "queue"', 'delivery: "later"').replace(
    'effect: "allow"',
    'effect: "maybe"',
  )
  expect(compile(wrong)).toHaveLength(2)
})
