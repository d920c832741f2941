/**
 * Facts through compactions of the real hosts. Short: one summariser, two rounds. `--full`: all of them. `--host NAME` for
 * one host. `--record` writes result.json and the table of docs/measured.md. Everything missing or stale is printed by
 * name, and gives exit code 1 when it is more than the project allows itself.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { engine } from "./engine.ts"
import { measureHost, shortfallsOf, type Figures } from "./measure.ts"
import { opencode } from "./opencode.ts"
import { FULL, SHORT } from "./scenario.ts"
import { HOSTS_END, HOSTS_START, renderBlock, renderTable, type Recorded } from "./table.ts"

const HOSTS = { engine, opencode, claude, codex }
const words = process.argv.slice(2)
const isFull = words.includes("--full")
const wanted = words[words.indexOf("--host") + 1]

const measured: Figures[] = []
for (const [name, host] of Object.entries(HOSTS)) {
  if (words.includes("--host") && name !== wanted) continue
  const figures = await measureHost(host, isFull ? FULL : SHORT)
  measured.push(figures)
  for (const line of [
    ...figures.missing.map((fact) => `missing ${fact}`),
    ...figures.stale.map((fact) => `stale ${fact}`),
  ])
    process.stdout.write(`${name}: ${line}\n`)
}
const date = new Date().toISOString().slice(0, 10)
process.stdout.write(`${renderTable({ date, hosts: measured })}\n`)
if (measured.some((figures) => shortfallsOf(figures).length > 0)) process.exitCode = 1
if (words.includes("--record")) publish()

/** Hosts that were not measured this time keep their figures from this day, and only from this day. */
function publish(): void {
  const file = join(import.meta.dirname, "result.json")
  const readResult = (text: string): Recorded => JSON.parse(text)
  const before = readResult(readFileSync(file, "utf8"))
  const known = before.date === date ? before.hosts : []
  const hosts = Object.values(HOSTS).flatMap(
    ({ name }) => [...measured, ...known].find((figures) => figures.host === name) ?? [],
  )
  const recorded = { date, hosts }
  writeFileSync(file, `${JSON.stringify(recorded, undefined, 2)}\n`)
  const page = join(import.meta.dirname, "../../docs/measured.md")
  const [head, rest] = readFileSync(page, "utf8").split(HOSTS_START)
  const tail = rest?.split(HOSTS_END)[1]
  if (head === undefined || tail === undefined) throw new Error("docs/measured.md has no place for the table")
  writeFileSync(page, `${head}${renderBlock(recorded)}${tail}`)
}
