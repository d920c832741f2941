/**
 * How fast the shipped command answers, as ratios to `node -e 0` of the same Node in the same run. Rounds are interleaved,
 * so that a busy machine slows both sides, and medians are compared. Run `npm run build` first.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { installPretendHarness } from "@meridian/testkit"

const BINARY = resolve("packages/cli/dist/meridian.js")
const ROUNDS = process.argv.includes("--quick") ? 5 : 21
const RUNS = 5_000
const PROMPT = "x".repeat(20_480)

interface Case {
  readonly name: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly limit?: number
}

const folder = mkdtempSync(join(tmpdir(), "meridian-bench-"))
try {
  const small = makeProject("small", 20)
  const large = makeProject("large", RUNS)
  const cases: readonly Case[] = [
    { name: "node -e 0", args: ["-e", "0"], cwd: small },
    { name: "--version", args: [BINARY, "--version"], cwd: small, limit: 2 },
    { name: "--help", args: [BINARY, "--help"], cwd: small, limit: 2 },
    { name: "run list", args: [BINARY, "run", "list", "--space", "s1"], cwd: small, limit: 3 },
    { name: "run show", args: [BINARY, "run", "show", "r7", "--space", "s1"], cwd: small, limit: 3 },
    { name: `run list of ${RUNS}`, args: [BINARY, "run", "list", "--space", "s1"], cwd: large, limit: 4 },
  ]
  const times = new Map(cases.map(({ name }) => [name, [] as number[]]))
  // The first round fills the compile cache, like the first start after an installation.
  for (let round = -1; round < ROUNDS; round += 1)
    for (const { name, args, cwd } of cases) {
      const started = performance.now()
      run(args, cwd)
      if (round >= 0) times.get(name)?.push(performance.now() - started)
    }
  const floor = median(times.get("node -e 0") ?? [])
  process.stdout.write(`node ${process.versions.node}, ${ROUNDS} interleaved rounds, medians\n`)
  for (const { name, limit } of cases) {
    const time = median(times.get(name) ?? [])
    const ratio = time / floor
    const verdict = limit === undefined ? "" : ` (at most ${limit}: ${ratio <= limit ? "yes" : "NO"})`
    process.stdout.write(
      `${name.padEnd(18)} ${time.toFixed(1).padStart(6)} ms  ${ratio.toFixed(2)}x${verdict}\n`,
    )
  }
  const megabytes = peakMemory(large)
  process.stdout.write(
    `run list of ${RUNS}   ${megabytes.toFixed(0)} MB peak (at most 100: ${megabytes <= 100 ? "yes" : "NO"})\n`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function run(args: readonly string[], cwd: string, more: Readonly<Record<string, string>> = {}): void {
  const env = { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, HOME: folder, MERIDIAN_REPO_ROOT: cwd, ...more }
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: "utf8" })
  if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`)
}

/** One real run, then the requested number of copies of it, each with its own prompt on disk. */
function makeProject(name: string, runs: number): string {
  const project = join(folder, name)
  mkdirSync(project, { recursive: true })
  installPretendHarness(join(folder, "bin"), { as: "claude", behaviour: { answer: "done" } })
  run([BINARY, "run", "spawn", "-p", PROMPT], project)
  const space = join(project, ".meridian/.spaces/s1")
  const log = readFileSync(join(space, "runs.jsonl"), "utf8")
  const copies: string[] = []
  for (let id = 2; id <= runs; id += 1) {
    copies.push(log.replaceAll('"id":"r1"', `"id":"r${id}"`).replaceAll("/r1/", `/r${id}/`))
    mkdirSync(join(space, `runs/r${id}`))
    writeFileSync(join(space, `runs/r${id}/prompt.md`), PROMPT)
  }
  writeFileSync(join(space, "runs.jsonl"), log + copies.join(""))
  return project
}

function peakMemory(cwd: string): number {
  const probe = join(folder, "peak.mjs")
  const answer = join(folder, "peak.txt")
  writeFileSync(
    probe,
    `import { writeFileSync } from "node:fs"\nprocess.on("exit", () => writeFileSync(${JSON.stringify(answer)}, String(process.resourceUsage().maxRSS)))\n`,
  )
  run(["--import", probe, BINARY, "run", "list", "--space", "s1"], cwd)
  return Number(readFileSync(answer, "utf8")) / 1024
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}
