/**
 * Runs the whole suite repeatedly beside a busy loop on every core, and looks for processes that it left behind.
 *
 *   npm run stress             three times
 *   npm run stress -- 10       ten times
 *   npm run stress -- 5 test/crash packages/engine
 *
 * Ends with 1 when a test failed in any round, or when a process of a round outlived it.
 */
import { spawn, spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"

/** Every process of a round carries it in its environment, and so does everything it starts. */
const MARK = "MERIDIAN_STRESS_ROUND"

const [, , given = "3", ...paths] = process.argv
const rounds = Number(given)
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  process.stderr.write(
    "ERROR [INVALID_INPUT]: The first word is the number of rounds. Next: npm run stress -- 10\n",
  )
  process.exit(2)
}

const busy = Array.from({ length: availableParallelism() }, () =>
  spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
)

const leftBehind = (mark: string): readonly string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark)
      } catch {
        // The process has ended by now, or is not ours.
        return false
      }
    })
    .map(
      (pid) => `${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 120)}`,
    )

let bad = 0
try {
  for (let round = 1; round <= rounds; round += 1) {
    const id = `${process.pid}-${round}`
    const { status } = spawnSync("npx", ["vitest", "run", ...paths], {
      stdio: "inherit",
      // oxlint-disable-next-line node/no-process-env -- the suite runs in our environment, marked
      env: { ...process.env, [MARK]: id },
    })
    const left = leftBehind(`${MARK}=${id}`)
    if (status !== 0 || left.length > 0) bad += 1
    process.stdout.write(
      `round ${round} of ${rounds}: ${status === 0 ? "green" : "RED"}, ${left.length} left behind\n`,
    )
    for (const line of left) process.stdout.write(`  ${line}\n`)
  }
} finally {
  for (const loop of busy) loop.kill("SIGKILL")
}
process.exitCode = bad === 0 ? 0 : 1
