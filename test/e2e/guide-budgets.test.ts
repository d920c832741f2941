/** `docs/guide/budgets.md` is true: its commands run unchanged, and each row names promises that tests prove. */
import { execFile } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

import { expect, test } from "vitest"

import { BEHAVIOURS } from "../behaviours.ts"
import { directScene } from "../direct-scene.ts"
import { BINARY } from "./cli-binary.ts"

const GUIDE = readFileSync("docs/guide/budgets.md", "utf8")

test("every row of what to count on is shown by promises that are there", () => {
  const [, table = ""] = GUIDE.split("## What to count on")
  const rows = table
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()))
  expect(rows.length).toBeGreaterThan(10)
  for (const [, what, does, by = ""] of rows) {
    const named = [...by.matchAll(/`([^`]+)`/g)].map(([, id = ""]) => id)
    expect([what, does, named.length > 0]).toEqual([what, expect.stringMatching(/\.$/), true])
    expect(named.filter((id) => !Object.hasOwn(BEHAVIOURS, id))).toEqual([])
  }
})

test("every command of the guide runs as it stands", async () => {
  const scene = await directScene({
    script: [
      ...[1, 2, 3].map((n) => ({
        tools: [{ name: "glob", input: { pattern: `*.${n}` } }],
        usage: { input: 100_000, output: 0 },
      })),
      { text: "All seen." },
    ],
  })
  const bin = join(scene.project, "bin")
  mkdirSync(bin)
  const program = join(bin, "meridian")
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`)
  chmodSync(program, 0o755)
  const env = { ...scene.env, PATH: `${bin}:${scene.env["PATH"]}` }
  const lines = [...GUIDE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = ""]) => block.split("\n"))
    .filter((line) => line !== "")
  expect(lines).toHaveLength(4)
  const said: string[] = []
  for (const line of lines) {
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `${line.split(" #")[0]} || [ $? = 4 ]`], {
      cwd: scene.project,
      env,
    })
    said.push(stdout)
  }
  expect(said[1]).toContain("s1/r1  budget")
  expect(said[2]).toMatch(/^r1 /)
})
