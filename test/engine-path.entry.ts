/**
 * Sends one prompt to an engine that has answered one before. Prints the files on its path, and how often each is entered.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine } from "@meridian/engine"

import { takeTrace } from "./trace-files.ts"

const directory = mkdtempSync(join(tmpdir(), "meridian-path-"))
const engine = await openEngine({
  database: join(directory, "engine.sqlite"),
  models: [
    {
      id: "fake/one",
      provider: "scripted",
      contextWindow: 100_000,
      maxOutput: 1_000,
      script: async () => ({ text: "hello" }),
    },
  ],
})
const { id: sessionID } = await engine.sessions.create({ location: { directory } })

const promptOnce = async (): Promise<void> => {
  const ended = Promise.withResolvers<void>()
  const watching = (async () => {
    for await (const { type } of engine.sessions.events({ sessionID, follow: true }))
      if (type === "session.next.step.ended.2") return ended.resolve()
  })()
  await engine.sessions.prompt({ sessionID, prompt: { text: "hi" } })
  await ended.promise
  await watching
  await engine.sessions.wait(sessionID)
}

await promptOnce()
const inspector = new Session()
inspector.connect()
await inspector.post("Profiler.enable")
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
takeTrace()
await engine.sessions.prompt({ sessionID, prompt: { text: "hi" } })
// The engine gets no other request while it works.
while ((await engine.sessions.active()).length > 0) await new Promise((resolve) => setImmediate(resolve))
const files = takeTrace()
const { result } = await inspector.post("Profiler.takePreciseCoverage")
const entered: Record<string, number> = {}
for (const { url, functions } of result) {
  const [, file] = url.split("/packages/engine/src/")
  if (file === undefined || !files.includes(file)) continue
  const names: unknown = await import(url)
  const exported = new Set(Object.keys(Object(names)))
  entered[file] = functions
    .filter(({ functionName }) => exported.has(functionName))
    .reduce((sum, { ranges: [whole] }) => sum + (whole?.count ?? 0), 0)
}
await engine.close()
rmSync(directory, { recursive: true, force: true })
process.stdout.write(JSON.stringify({ files, entered }))
