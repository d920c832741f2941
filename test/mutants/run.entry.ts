/**
 * Makes each mutant in turn, runs the test that must notice it, and puts the file back. `npm run mutants -- 3 7` tries some of
 * them by number. Nothing else may work in this checkout meanwhile.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { MUTANTS, type Mutant } from "./mutants.ts"

const root = join(import.meta.dirname, "../..")
const chosen = process.argv.slice(2).map(Number)

const isKilled = ({ file, from, to, killedBy }: Mutant): boolean => {
  const path = join(root, "packages/engine/src", file)
  const source = readFileSync(path, "utf8")
  if (source.split(from).length !== 2) throw new Error(`${file} does not have it exactly once: ${from}`)
  try {
    writeFileSync(
      path,
      source.replace(from, () => to),
    )
    const words = ["vitest", "run", killedBy, "--testTimeout", "20000", "--bail", "1"]
    return spawnSync("npx", words, { cwd: root, stdio: "ignore" }).status !== 0
  } finally {
    writeFileSync(path, source)
  }
}

let survived = 0
for (const [index, mutant] of MUTANTS.entries()) {
  const number = index + 1
  if (chosen.length > 0 && !chosen.includes(number)) continue
  const killed = isKilled(mutant)
  survived += killed ? 0 : 1
  process.stdout.write(`${number} ${killed ? "killed" : "SURVIVED"}: ${mutant.says} (${mutant.killedBy})\n`)
}
process.exitCode = survived === 0 ? 0 : 1
