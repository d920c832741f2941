import { readFileSync } from "node:fs"

import { expect, test } from "vitest"

import { shortfallsOf } from "../../bench/hosts/measure.ts"
import { HOSTS_END, HOSTS_START, renderBlock, type Recorded } from "../../bench/hosts/table.ts"
import { KINDS, ROUNDS } from "../../bench/hosts/tale.ts"

const readRecorded = (text: string): Recorded => JSON.parse(text)

const recorded = readRecorded(readFileSync("bench/hosts/result.json", "utf8"))

const cellsOf = (text: string): readonly (readonly string[])[] =>
  text.split("\n").map((line) =>
    line
      .split("|")
      .map((cell) => cell.trim())
      .filter((cell) => !/^-*$/.test(cell)),
  )

test("the published table is the last recorded run", () => {
  const page = readFileSync("docs/measured.md", "utf8")
  const published = page.slice(page.indexOf(HOSTS_START), page.indexOf(HOSTS_END) + HOSTS_END.length)
  expect(cellsOf(published)).toEqual(cellsOf(renderBlock(recorded)))
})

test("the recorded run was a whole one, of four hosts, and reaches what the project promises", () => {
  const facts = ROUNDS.reduce((sum, round) => sum + round.facts.length, 0)
  expect(recorded.hosts.map(({ host, facts: probes }) => [host, probes])).toEqual(
    ["our engine", "OpenCode", "Claude Code", "Codex"].map((host) => [host, 3 * facts]),
  )
  expect(recorded.hosts.flatMap(shortfallsOf)).toEqual([])
})

test("the tale has facts of sixteen kinds", () => {
  const told = new Set(ROUNDS.flatMap(({ facts }) => facts.map(({ kind }) => kind)))
  expect([...told].toSorted()).toEqual(KINDS.toSorted())
  expect(KINDS).toHaveLength(16)
})
