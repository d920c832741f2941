/**
 * The same turns through the alternatives that people would use, with the same provider: `npm run bench:peers`. The first
 * run installs the programs. Prints one table and writes it into docs/measured.md. `--quick` is for trying it out,
 * `--only=NAME` runs the floor and one program; neither writes anything.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { loadavg } from "node:os"
import { resolve } from "node:path"

import { installHarness, versionOf } from "../../test/live/install-harnesses.ts"
import { installPeers, VERSIONS } from "./install.ts"
import { measureProgram, type Size } from "./measure.ts"
import { startProvider } from "./provider.ts"
import { putIntoPage, renderTable, type Row } from "./table.ts"

/** The floor comes first, because all others are compared with it. */
const PROGRAMS = [
  { name: "floor", title: "hand-written durable loop" },
  { name: "meridian", title: "Meridian's engine" },
  { name: "pi", title: `pi ${VERSIONS.pi} (JSONL, no fsync)` },
  { name: "openai-agents", title: `OpenAI Agents JS ${VERSIONS["openai-agents"]} + SQLite` },
  { name: "langgraph", title: `LangGraph.js ${VERSIONS.langgraph} + its SQLite` },
  { name: "opencode", title: `opencode serve ${versionOf("opencode")}` },
] as const

const WHOLE: Size = { warmUp: 20, turns: 50, growth: 500, many: 5, kills: 20 }
const QUICK: Size = { warmUp: 3, turns: 5, growth: 20, many: 1, kills: 2 }

const main = async (args: readonly string[]): Promise<void> => {
  const size = args.includes("--quick") ? QUICK : WHOLE
  const only = args.find((argument) => argument.startsWith("--only="))?.slice("--only=".length)
  const chosen = PROGRAMS.filter(({ name }) => only === undefined || name === "floor" || name === only)
  if (only !== undefined && !chosen.some(({ name }) => name === only))
    throw new Error(`No program ${only}. There are ${PROGRAMS.map(({ name }) => name).join(", ")}.`)
  const load = (): number => loadavg()[0] ?? 0
  const before = load()
  const root = installPeers()
  const opencode = installHarness("opencode")
  const provider = await startProvider()
  const rows: Row[] = []
  try {
    for (const { name, title } of chosen) {
      process.stderr.write(`${title} ...\n`)
      const figures = await measureProgram({ place: { name, root, opencode }, provider, size })
      rows.push({ title, ...figures })
      // A run takes long, so known figures are printed in case it ends early.
      process.stderr.write(`  ${JSON.stringify(figures)}\n`)
    }
  } finally {
    await provider.close()
  }
  const table = renderTable(rows, size)
  process.stdout.write(`${table}\n`)
  if (size !== WHOLE || only !== undefined) return
  const page = resolve(import.meta.dirname, "../../docs/measured.md")
  const date = new Date().toISOString().slice(0, 10)
  const occasion = { node: process.versions.node, date, loads: [before, load()] as const, size }
  writeFileSync(page, putIntoPage(readFileSync(page, "utf8"), table, occasion))
}

await main(process.argv.slice(2))
