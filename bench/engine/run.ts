/** Prints the engine's benchmarks: ours, the floor, the ratio, the limit. `--quick` makes them short. */
import { writeFileSync } from "node:fs"
import { loadavg } from "node:os"

import { benchExtensions } from "./extensions.ts"
import { benchChildren, benchMentions } from "./family.ts"
import { benchAppend, benchIdle, benchOpen, benchReplay, benchTail } from "./log.ts"
import { startProvider, type Line } from "./scene.ts"
import { benchGrowth, benchManySessions, benchTurn } from "./turns.ts"

const quick = process.argv.includes("--quick")
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice(7)
const provider = await startProvider()
const lines: Line[] = []
const show = (line: Line): void => {
  lines.push(line)
  process.stdout.write(
    `${line.what.padEnd(46)} ours ${line.ours.padStart(11)}  floor ${line.floor.padStart(16)}  ratio ${line.ratio.toFixed(2)} (${line.limit})\n`,
  )
}
const wanted = (name: string): boolean => only === undefined || only.split(",").includes(name)

process.stdout.write(`node ${process.versions.node}, load ${loadavg()[0]?.toFixed(2)}\n`)
try {
  if (wanted("turn")) show(await benchTurn(provider, "text", quick ? 40 : 200))
  if (wanted("turn")) show(await benchTurn(provider, "tool", quick ? 40 : 200))
  if (wanted("extensions")) show(await benchExtensions(provider, quick ? 100 : 300))
  if (wanted("growth")) for (const line of await benchGrowth(provider, quick ? 200 : 2_000)) show(line)
  if (wanted("many")) show(await benchManySessions(provider, quick ? 4 : 10))
  if (wanted("children")) show(await benchChildren(quick ? 2 : 5))
  if (wanted("mentions")) show(await benchMentions(quick ? 20 : 60))
  if (wanted("idle")) show(await benchIdle(quick ? 40 : 200))
  if (wanted("append")) show(await benchAppend(quick ? 200 : 1_000))
  if (wanted("replay")) show(await benchReplay(quick ? 20_000 : 100_000))
  if (wanted("tail")) show(await benchTail(quick ? 200 : 2_000))
  if (wanted("open")) show(await benchOpen(quick ? 1_000 : 10_000, quick ? 100_000 : 1_000_000))
} finally {
  await provider.close()
}
if (!quick && only === undefined)
  writeFileSync(
    "bench/engine/result.json",
    `${JSON.stringify({ node: process.versions.node, lines }, undefined, 2)}\n`,
  )
