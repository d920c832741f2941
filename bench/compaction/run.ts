/** Prints retention through compactions in the engine, the cost of a compaction, and the stability of the prefix. */
import { writeFileSync } from "node:fs"

import { SUMMARISER_NAMES } from "../retention/summarisers.ts"
import { measureCompaction, measurePrefix } from "./cost.ts"
import { measureRetention, type Retention } from "./retention.ts"

const quick = process.argv.includes("--quick")
const rows: Retention[] = []
for (const compactions of quick ? [10] : [10, 50])
  for (const summariser of SUMMARISER_NAMES) {
    const row = await measureRetention(summariser, compactions)
    rows.push(row)
    process.stdout.write(
      `${summariser.padEnd(12)} ${String(compactions).padStart(2)} compactions  declared ${row.declared.padStart(9)}  observed ${row.observed.padStart(9)}  stale ${row.stale}  invented ${row.invented}\n`,
    )
  }
const prefix = await measurePrefix(quick ? 30 : 150)
process.stdout.write(
  `prefix unchanged from turn to turn, least: ${(prefix * 100).toFixed(2)} % (at least 99 %)\n`,
)
for (const turns of quick ? [50] : [50, 200, 500]) {
  const { ours, read } = await measureCompaction(turns, quick ? 5 : 9)
  process.stdout.write(
    `compaction after ${turns} turns: ${ours.toFixed(1)} ms, reading its events once ${read.toFixed(1)} ms, ratio ${(ours / read).toFixed(2)} (at most 3)\n`,
  )
}
if (!quick)
  writeFileSync("bench/compaction/result.json", `${JSON.stringify({ rows, prefix }, undefined, 2)}\n`)
