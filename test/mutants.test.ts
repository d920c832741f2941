import { existsSync, readFileSync } from "node:fs"

import { expect, test } from "vitest"

import { MUTANTS } from "./mutants/mutants.ts"

test("every mutant changes a text that is there exactly once, and names a test that exists", () => {
  const stale = MUTANTS.filter(
    ({ file, from, killedBy }) =>
      readFileSync(`packages/engine/src/${file}`, "utf8").split(from).length !== 2 || !existsSync(killedBy),
  )
  expect(stale.map(({ says }) => says)).toEqual([])
})
