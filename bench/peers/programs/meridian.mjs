/** Our engine, opened as an embedder would. BENCH_ROOT is the checkout whose build is used. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"

import { serve } from "./serve.mjs"

const { openEngine } = await import(`${process.env.BENCH_ROOT}/packages/engine/dist/index.js`)

await serve(async ({ folder, address, tool }) => {
  const engine = await openEngine({
    database: join(folder, "engine.sqlite"),
    models: [
      {
        id: "bench/one",
        provider: "openai-compatible",
        baseURL: `${address}/v1`,
        apiKey: "none",
        model: "one",
        contextWindow: 100_000_000,
        maxOutput: 4000,
      },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    tools: [
      {
        name: "noop",
        description: "Does nothing and answers with a kilobyte.",
        input: { type: "object", properties: { n: { type: "integer" } } },
        execute: () => tool(),
      },
    ],
  })
  const project = join(folder, "project")
  mkdirSync(project, { recursive: true })
  const known = new Set()
  const idOf = async (name) => {
    const id = `ses_${name}`
    if (!known.has(id)) await engine.sessions.create({ id, location: { directory: project } })
    known.add(id)
    return id
  }
  return {
    turn: async (name, text) => {
      const sessionID = await idOf(name)
      await engine.sessions.prompt({ sessionID, prompt: { text } })
      await engine.sessions.wait(sessionID)
    },
    resume: async (name) => engine.sessions.run(await idOf(name)),
    close: () => engine.close(),
  }
})
