/** The guide to embedding is a program: its blocks run in order, unchanged. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"

import { startScriptedProvider } from "@meridian/testkit"
import { expect, test } from "vitest"

const ENGINE = pathToFileURL("packages/engine/src/index.ts").href

const blocksOf = (guide: string): readonly string[] =>
  [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = ""]) =>
    block.replace('"@meridian/engine"', JSON.stringify(ENGINE)),
  )

test("every block of the guide does what it says", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-guide-"))
  writeFileSync(join(folder, "notes.md"), "remember the milk")
  const provider = await startScriptedProvider({
    script: [
      { tools: [{ name: "read", input: { path: "notes.md" } }] },
      { text: "It says: remember the milk." },
      { tools: [{ name: "write", input: { path: "done.md", content: "done" } }] },
      { text: "Written." },
    ],
  })
  try {
    const blocks = blocksOf(readFileSync("docs/guide/embedding.md", "utf8"))
    const program = [
      `const folder = ${JSON.stringify(folder)}, address = ${JSON.stringify(provider.url)}`,
      `const lookUp = async (id: string, _signal: AbortSignal) => id`,
      ...blocks,
      `process.stdout.write(JSON.stringify({ receipt, answer, seen, code }))`,
    ].join("\n")
    const file = join(folder, "guide.ts")
    writeFileSync(file, program)
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=meridian-source", file])
    expect(JSON.parse(stdout)).toMatchObject({
      receipt: { admittedSeq: 2 },
      answer: { type: "assistant", content: [{ type: "text", text: "It says: remember the milk." }] },
      code: "SESSION_NOT_FOUND",
    })
    expect(JSON.parse(stdout).seen.at(-1)).toBe("synced")
    expect(readFileSync(join(folder, "done.md"), "utf8")).toBe("done")
    expect(blocks.length).toBeGreaterThan(5)
  } finally {
    await provider.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
