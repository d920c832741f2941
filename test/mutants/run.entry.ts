/**
 * Makes each mutant in turn, runs the test that must notice it, and restores the file. A test kills a mutant only by naming
 * the fault; running out of time does not count. `npm run mutants -- 3 7` runs mutants 3 and 7. Do no other work in this
 * checkout while it runs.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { MUTANTS, type Mutant } from "./mutants.ts"

const root = join(import.meta.dirname, "../..")
const report = join(tmpdir(), `meridian-mutant-${process.pid}.json`)
const chosen = process.argv.slice(2).map(Number)

type Verdict = "killed" | "SURVIVED" | "TIMED OUT" | "BROKEN"

const judge = ({ file, from, to, killedBy }: Mutant): Verdict => {
  const path = join(root, "packages/engine/src", file)
  const source = readFileSync(path, "utf8")
  if (source.split(from).length !== 2) throw new Error(`${file} does not have it exactly once: ${from}`)
  try {
    writeFileSync(
      path,
      source.replace(from, () => to),
    )
    rmSync(report, { force: true })
    const words = ["vitest", "run", killedBy, "--testTimeout", "20000"]
    const { status } = spawnSync("npx", [...words, "--reporter=json", `--outputFile=${report}`], {
      cwd: root,
      stdio: "ignore",
    })
    return status === 0 ? "SURVIVED" : verdictOf()
  } finally {
    writeFileSync(path, source)
  }
}

/** A test may also run out of time because the machine is busy, and a test that never ran has noticed nothing. */
const verdictOf = (): Verdict => {
  const messages = existsSync(report) ? failuresIn(readFileSync(report, "utf8")) : []
  if (messages.length === 0) return "BROKEN"
  return messages.every((message) => /timed out in \d+ ?ms/.test(message)) ? "TIMED OUT" : "killed"
}

interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly failureMessages?: readonly string[] | null }[]
  }[]
}

const failuresIn = (text: string): readonly string[] => {
  // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- vitest's own report
  const { testResults } = JSON.parse(text) as TestReport
  return testResults.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ failureMessages }) => failureMessages ?? []),
  )
}

let survived = 0
for (const [index, mutant] of MUTANTS.entries()) {
  const number = index + 1
  if (chosen.length > 0 && !chosen.includes(number)) continue
  const verdict = judge(mutant)
  survived += verdict === "killed" ? 0 : 1
  process.stdout.write(`${number} ${verdict}: ${mutant.says} (${mutant.killedBy})\n`)
}
process.exitCode = survived === 0 ? 0 : 1
rmSync(report, { force: true })
