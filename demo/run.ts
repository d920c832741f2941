/**
 * A real session in a real folder, with a scripted model that needs no key. It fills a small window, is compacted by a
 * summariser that forgets half, is killed with SIGKILL in the middle of a command, resumes, and finishes. Everything
 * printed was measured in this run; a broken promise gives exit code 1.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { setTimeout as pause } from "node:timers/promises"

import { accountOf, makePaint } from "./account.ts"
import { brokenPromises, measure } from "./measure.ts"
import { createProject, SESSION } from "./project.ts"

const LONGEST_MS = 55_000

const started = performance.now()
const folder = mkdtempSync(join(tmpdir(), "meridian-demo-"))
const directory = join(folder, "project")
mkdirSync(directory)
createProject(directory)

// oxlint-disable-next-line node/no-process-env -- https://no-color.org
const paint = makePaint(process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "")
// A reader that stops early (`| head`) does not stop the run or change its exit code.
process.stdout.on("error", () => undefined)
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const tell = (sign: string, text: string): void => {
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  say(`  ${sign} ${paint.faint(`${seconds} s`.padStart(6))}  ${text}`)
}

/** Quoted for a shell. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`

const children = new Set<ChildProcess>()
const startWorker = (mode: "start" | "resume"): ChildProcess => {
  const child = spawn(
    process.execPath,
    [resolve(import.meta.dirname, "worker.entry.ts"), mode, folder, directory],
    { stdio: ["ignore", "pipe", "inherit"] },
  )
  children.add(child)
  child.once("exit", () => children.delete(child))
  return child
}

const giveUp = (why: string): never => {
  for (const child of children) child.kill("SIGKILL")
  say(`\n  ${paint.bad("BROKEN")} ${why}`)
  process.exit(1)
}
setTimeout(() => giveUp("it did not end within a minute"), LONGEST_MS).unref()
process.once("SIGINT", () => giveUp("interrupted"))
process.once("SIGTERM", () => giveUp("terminated"))

say(`\n  ${paint.strong("Meridian")}: one session, a small window, a forgetful summariser and a kill -9\n`)
const first = startWorker("start")
const isOver = once(first, "exit")
tell(paint.good("+"), "a model without a memory works on a project with a bug")
while (!existsSync(join(directory, "check.log"))) {
  if (first.exitCode !== null) giveUp("the first process ended before it could be killed")
  await pause(10)
}
first.kill("SIGKILL")
await isOver
tell(paint.bad("x"), "SIGKILL, in the middle of a command that takes 30 s")

const second = startWorker("resume")
let statusAfterCrash = ""
second.stdout?.on("data", (data: Buffer) => {
  statusAfterCrash += data.toString()
  tell(paint.good("+"), `a new process finds the session ${statusAfterCrash.trim()} and goes on`)
})
const [code]: (number | null)[] = await once(second, "exit")
tell(code === 0 ? paint.good("+") : paint.bad("x"), `it has ended with exit code ${code}\n`)

const measured = await measure({
  folder,
  directory,
  session: SESSION,
  statusAfterCrash: statusAfterCrash.trim(),
  resumedWell: code === 0,
  started,
})
for (const line of accountOf(measured, paint)) say(line)

const binary = relative(process.cwd(), resolve(import.meta.dirname, "../packages/cli/dist/meridian.js"))
say(`\n  Look at the same session in the page:\n`)
say(`    node_modules/.bin/node ${binary} serve --http --database ${quoted(`${folder}/engine.sqlite`)}\n`)

const broken = brokenPromises(measured)
for (const promise of broken) say(`  ${paint.bad("BROKEN")} it is not so that ${promise}`)
if (broken.length === 0) say(`  ${paint.good("Every promise was kept.")}\n`)
process.exitCode = broken.length === 0 ? 0 : 1
