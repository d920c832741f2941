/**
 * A real session in a real folder, with a scripted model that needs no key: it fills a small window, is compacted by a
 * summariser that forgets half, is killed with SIGKILL in the middle of a command, resumes, and finishes. Everything that
 * is printed was measured in this run; a broken promise makes the exit code 1.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout } from "node:timers/promises"

import { openEngine, type SessionEvent } from "../packages/engine/dist/index.js"
import type { Probe } from "./model.ts"
import { createProject } from "./project.ts"

const started = performance.now()
const folder = mkdtempSync(join(tmpdir(), "meridian-demo-"))
const directory = join(folder, "project")
mkdirSync(directory)
createProject(directory)

const worker = (mode: string) =>
  spawn(process.execPath, [resolve(import.meta.dirname, "worker.entry.ts"), mode, folder, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  })

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

say("Meridian demo: one session, a small window, a forgetful summariser and a kill -9.\n")

const first = worker("start")
await once(first.stdout, "data")
while (!existsSync(join(directory, "check.log"))) await setTimeout(10)
first.kill("SIGKILL")
await once(first, "exit")
say("  killed the process with SIGKILL while a command was running")

const second = worker("resume")
let told = ""
second.stdout.on("data", (data: Buffer) => (told += data.toString()))
const [code] = await once(second, "exit")
say(`  ${told.trim()}, then resumed by run()\n`)

const engine = await openEngine({
  database: `${folder}/engine.sqlite`,
  models: [{ id: "scripted/none", provider: "scripted", contextWindow: 8_000, maxOutput: 600 }],
})
const events: SessionEvent[] = []
for await (const event of engine.sessions.events({ sessionID: "ses_demo" })) events.push(event)
const receipts = await engine.sessions.receipts("ses_demo")
const session = await engine.sessions.get("ses_demo")
await engine.close()

const probes = readFileSync(`${folder}/probes.jsonl`, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Probe)
const turns = events.filter((event) => event.type === "session.next.step.started.1").length
const calls = events.flatMap((event) =>
  event.type === "session.next.tool.called.1" ? [event.data.callID] : [],
)
const settled = events.filter(
  (event) => event.type === "session.next.tool.success.1" || event.type === "session.next.tool.failed.1",
).length
const interrupted = events.filter(
  (event) => event.type === "session.next.tool.failed.1" && event.data.error.code === "interrupted",
).length
const ended = receipts.filter((receipt) => receipt.status === "ended")
const afterCompaction = probes.filter((probe) => probe.kind === "turn" && probe.compacted)
const kept = (name: keyof Probe["sees"]) => afterCompaction.filter((probe) => probe.sees[name]).length
const tests = events.findLast((event) => event.type === "session.next.tool.success.1")
const passed = JSON.stringify(tests?.data ?? "").includes("ok tax is rounded to cents")
const checkLog = readFileSync(join(directory, "check.log"), "utf8").trim()

say(`  turns              ${turns}`)
say(`  tool calls         ${calls.length}, settled ${settled}`)
for (const [index, receipt] of ended.entries())
  say(
    `  compaction ${index + 1}       ${receipt.tokens?.before} -> ${receipt.tokens?.after} tokens, ${receipt.messages} messages into a ${receipt.method} summary`,
  )
say(`  requests after a compaction that still show`)
for (const name of ["objective", "decision", "rule", "todo"] as const)
  say(`    ${name.padEnd(16)} ${kept(name)} of ${afterCompaction.length}`)
say(
  `  the crash left     ${interrupted} call recorded as interrupted, not run again; the command wrote "${checkLog}"`,
)
say(`  processes left     ${leftovers()}`)
say(`  the project        ${passed ? "its tests pass" : "its tests do not pass"}`)
say(`  time               ${((performance.now() - started) / 1_000).toFixed(1)} s`)
say(`\n  ${session.seq} events. Look at the same session in the page:`)
say(`  node_modules/.bin/node packages/cli/dist/meridian.js serve --http --database ${folder}/engine.sqlite`)

const promises: readonly (readonly [string, boolean])[] = [
  ["the resumed process ended well", code === 0],
  ["the session was interrupted, not lost", told.includes("interrupted")],
  ["it was compacted at least twice", ended.length >= 2],
  ["every call has one outcome", calls.length === settled],
  ["the killed command was reported once and not repeated", interrupted === 1 && checkLog === "started"],
  [
    "nothing declared was lost",
    (["objective", "decision", "rule", "todo"] as const).every(
      (name) => kept(name) === afterCompaction.length,
    ),
  ],
  ["the task was finished", passed],
  ["no process is left", leftovers() === 0],
]
const broken = promises.filter(([, kept_]) => !kept_)
for (const [promise] of broken) say(`\n  BROKEN: ${promise}`)
if (broken.length > 0) process.exitCode = 1

/** Processes that still work in the demo's folder. */
function leftovers(): number {
  try {
    return readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(folder)
      } catch {
        return false
      }
    }).length
  } catch {
    return 0
  }
}
