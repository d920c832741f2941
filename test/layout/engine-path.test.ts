/**
 * The path of a prompt through the engine, derived from a run: the files between the public verb and the ports, in order of
 * first entry. ARCHITECTURE.md names the same files. Pure decisions (`domain/`), the ports and the code behind them
 * (`store/`, `model/`, `context/`, `tool/`) are not steps of the path: they are asked and answer.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const NO_STEPS = /^(?:domain|port|store|model|context|tool|extension)\//

interface Path {
  readonly files: readonly string[]
  /** How often another file calls one of its exported functions. */
  readonly entered: Readonly<Record<string, number>>
}

const traced = (): Path => {
  const words =
    "--no-warnings --conditions=meridian-source --import ./test/trace-files.ts test/engine-path.entry.ts"
  const printed = execFileSync(process.execPath, words.split(" "), { encoding: "utf8", cwd: root })
  // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- written by the entry above
  const { files, entered } = JSON.parse(printed) as Path
  return { files: files.filter((file) => !NO_STEPS.test(file)), entered }
}

/** The files of the list under "The files of that way, in order". */
const documented = (): readonly string[] => {
  const [, after = ""] = readFileSync(join(root, "ARCHITECTURE.md"), "utf8").split(
    "<!-- the way of a prompt -->",
  )
  const [list = ""] = after.split("<!-- end -->")
  return [...list.matchAll(/`([\w/-]+\.ts)`/g)].map((match) => match[1] ?? "")
}

test("a prompt passes the files that ARCHITECTURE.md names, in that order, and no file more than twice", () => {
  const { files, entered } = traced()
  expect(documented()).toEqual(files)
  expect(files.length).toBeLessThanOrEqual(25)
  expect(files.filter((file) => (entered[file] ?? 0) > 2)).toEqual([])
  // The process loads the whole engine from source. That takes seconds, or many on a busy machine.
}, 120_000)
