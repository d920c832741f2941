/**
 * A hundred hours alone, on a clock that moves only when nothing real is left to do: 400 pieces of work in the engine, in
 * real processes that are really killed, compared with the same work undisturbed. Also measures what an idle supervisor
 * costs. `--quick` shortens both. Exit code 1 when a bar is missed.
 */
import { loadavg } from "node:os"

import { HUNDRED_HOURS, SHORT } from "./plan.ts"
import { measureSupervisor } from "./supervisor.ts"
import { takeWalk } from "./walk.ts"

const isQuick = process.argv.includes("--quick")
const plan = isQuick ? SHORT : HUNDRED_HOURS

const calm = await takeWalk({ ...plan, kills: [], limits: [] })
const walked = await takeWalk(plan)

let isMissed = false
const say = (
  what: string,
  value: string,
  bar?: { readonly text: string; readonly isKept: boolean },
): void => {
  const kept = bar === undefined ? "" : `, ${bar.text}${bar.isKept ? "" : ": missed"}`
  if (bar?.isKept === false) isMissed = true
  process.stdout.write(`${what.padEnd(52)} ${value}${kept}\n`)
}

const reboots = plan.kills.filter(({ reboot }) => reboot === true).length
const ratio = walked.requests / calm.requests
const refusals = walked.limits
say(
  "walked",
  `${walked.hours.toFixed(0)} h (${calm.hours.toFixed(0)} undisturbed), ${walked.tools} pieces of work, ${walked.compactions} hostile compactions, ${walked.limits} limits, ${walked.kills - reboots} SIGKILLs, ${reboots} reboots`,
)
say("how it ended", walked.status, { text: "idle", isKept: walked.status === "idle" })
say("requests beside the undisturbed run", `${walked.requests} of ${calm.requests}, ${ratio.toFixed(3)}`, {
  text: `at most 1.02 (${refusals} of them met a limit)`,
  // A short walk has too few of them for a meaningful share.
  isKept: isQuick || ratio <= 1.02,
})
say("tools run twice", String(walked.toolsTwice), { text: "0", isKept: walked.toolsTwice === 0 })
say("requests before a reset", String(walked.beforeReset), { text: "0", isKept: walked.beforeReset === 0 })
say("longest delay after a reset, on that clock", `${(walked.delayMs / 1_000).toFixed(1)} s`, {
  text: "at most 60",
  isKept: walked.delayMs <= 60_000,
})
say("task whole in first requests after a compaction", `${walked.withTask} of ${walked.afterCompaction}`, {
  text: "all",
  isKept: walked.withTask === walked.afterCompaction && walked.afterCompaction > 0,
})
for (const endedRuns of [200, 5_000]) {
  const idle = await measureSupervisor(isQuick ? 10_000 : 60_000, endedRuns)
  if (idle === undefined) break
  const who = `idle supervisor beside ${endedRuns} ended runs`
  say(`${who}, memory`, `${idle.megabytes.toFixed(1)} MB`, {
    text: "under 60",
    isKept: idle.megabytes < 60,
  })
  say(`${who}, processor`, `${idle.cpu.toFixed(3)} %`, { text: "under 0.1", isKept: idle.cpu < 0.1 })
}
process.stdout.write(`load ${loadavg()[0]?.toFixed(1)}; start-up of commands: bench/cli\n`)
process.exitCode = isMissed ? 1 : 0
