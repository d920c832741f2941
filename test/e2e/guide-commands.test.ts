/** The guides to commands and to children are programs: their blocks run unchanged. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"

import { expect, onTestFinished, test } from "vitest"

const ENGINE = pathToFileURL("packages/engine/src/index.ts").href

const runGuide = async (guide: string, shown: string, before = ""): Promise<unknown> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-guide-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const blocks = [...readFileSync(guide, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
    ([, block = ""]) => block.replace('"@meridian/engine"', JSON.stringify(ENGINE)),
  )
  const program = [
    `const folder = ${JSON.stringify(folder)}`,
    before,
    ...blocks,
    `process.stdout.write(JSON.stringify(${shown}))`,
  ].join("\n")
  const file = join(folder, "guide.ts")
  writeFileSync(file, program)
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=meridian-source", file])
  // oxlint-disable-next-line eslint/no-restricted-properties -- what the program has just written
  return JSON.parse(stdout)
}

test("every block of the guide to commands does what it says", async () => {
  expect(
    await runGuide("docs/guide/commands.md", "{ parts, commands, review: review.prompt.parts, note }"),
  ).toMatchObject({
    parts: ["two\nthree\n", "unreadable"],
    commands: [{ name: "init" }, { name: "review", description: "Review one file" }],
    review: [
      { kind: "command", text: "Review @notes.md." },
      { kind: "file", name: "notes.md" },
    ],
    note: { type: "synthetic", text: "The build is red." },
  })
})

test("the block of the guide to children does what it says", async () => {
  const lastWords = `const lastWords = (body) => {
    const parts = body.prompt.flatMap(({ role, content }) => (role === "system" ? [] : content))
    const last = parts.at(-1)
    return last.text ?? last.output.value
  }`
  expect(await runGuide("docs/guide/children.md", "children", lastWords)).toMatchObject([
    { agent: "counter", title: "count files", status: "idle", parent: { depth: 1 } },
  ])
})
