/** A long answer is never kept whole: 100,000 pieces pass through a heap that could not hold them. */
import { spawn } from "node:child_process"
import { join } from "node:path"

import { startScriptedProvider } from "@meridian/testkit"
import { expect, test } from "vitest"

const ENTRY = join(import.meta.dirname, "model-memory.entry.ts")

const run = (args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [
      "--max-old-space-size=48",
      "--conditions=meridian-source",
      ENTRY,
      ...args,
    ])
    let said = ""
    child.stdout.on("data", (data) => (said += String(data)))
    child.stderr.on("data", (data) => (said += String(data)))
    child.once("close", () => resolve(said.slice(0, 2_000)))
  })

/** Responses repeats the whole text in four of its last events, so its pieces are small. */
test.each([
  ["openai-compatible", 600],
  ["openai", 60],
  ["anthropic", 600],
])("100,000 pieces of %s, %i characters each, fit through 48 MB of heap", async (provider, size) => {
  const server = await startScriptedProvider({
    script: [{ text: "0123456789", times: size * 10_000, chunks: 100_000 }],
  })
  try {
    expect(await run([provider, server.url])).toBe(
      `${JSON.stringify({ pieces: 100_000, characters: size * 100_000, last: "finish" })}\n`,
    )
  } finally {
    await server.close()
  }
})
