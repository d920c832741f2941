/**
 * What keeping files costs a turn, in a repository of 10,000 files: turns that edit, run a command and read, with and
 * without it, alternating in this run, compared with `git status` there. The model takes 60 ms to answer, less than any real
 * one: what is kept after a turn is kept meanwhile. `--quick` makes it short.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { openEngine, type Engine, type Reply } from "@meridian/engine"

const quick = process.argv.includes("--quick")
const ROUNDS = quick ? 10 : 40
const LIMIT_MS = 15
const MODEL_MS = 60
const base = mkdtempSync(join(tmpdir(), "meridian-undo-bench-"))

const git = (project: string, ...words: readonly string[]): void => {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], {
    cwd: project,
    stdio: "ignore",
  })
}

/** One for each engine: neither sees changes of the other. */
const build = (name: string): string => {
  const project = join(base, name)
  for (let folder = 0; folder < 400; folder += 1) {
    const path = join(project, `src/${folder % 20}/${folder}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < 25; file += 1)
      writeFileSync(join(path, `${file}.ts`), `file ${folder} ${file}\n`)
  }
  git(project, "init", "--quiet")
  git(project, "add", "--all")
  git(project, "commit", "--quiet", "-m", "first")
  return project
}

let round = 0
const KINDS: Readonly<Record<string, () => Reply>> = {
  edit: () => ({ tools: [{ name: "write", input: { path: "src/1/1/1.ts", content: `edited ${round}\n` } }] }),
  command: () => ({ tools: [{ name: "bash", input: { command: `echo ${round} > src/2/2/2.ts` } }] }),
  read: () => ({ tools: [{ name: "read", input: { path: "src/3/3/3.ts" } }] }),
}

const open = async (
  undo: boolean,
): Promise<{
  readonly project: string
  readonly engine: Engine
  readonly say: (kind: string) => Promise<number>
}> => {
  const project = build(`project-${undo}`)
  let kind = ""
  let isAnswer = false
  const engine = await openEngine({
    database: join(base, `${undo}.sqlite`),
    undo,
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    models: [
      {
        id: "fake/one",
        provider: "scripted",
        contextWindow: 10_000_000,
        maxOutput: 8_000,
        script: async () => {
          await delay(MODEL_MS)
          isAnswer = !isAnswer
          return isAnswer ? (KINDS[kind]?.() ?? { text: "done" }) : { text: "done" }
        },
      },
    ],
  })
  const { id: sessionID } = await engine.sessions.create({ location: { directory: project } })
  return {
    project,
    engine,
    say: async (wanted) => {
      kind = wanted
      const began = performance.now()
      await engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
      await engine.sessions.wait(sessionID)
      return performance.now() - began
    },
  }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? 0

const plain = await open(false)
const keeping = await open(true)
const took: Record<string, { readonly without: number[]; readonly with: number[] }> = {}
const status: number[] = []
for (round = -3; round < ROUNDS; round += 1)
  for (const kind of Object.keys(KINDS)) {
    const times = (took[kind] ??= { without: [], with: [] })
    const without = await plain.say(kind)
    const kept = await keeping.say(kind)
    const began = performance.now()
    git(keeping.project, "status", "--porcelain")
    if (round < 0) continue
    status.push(performance.now() - began)
    times.without.push(without)
    times.with.push(kept)
  }
await plain.engine.close()
await keeping.engine.close()
rmSync(base, { recursive: true, force: true })

const look = median(status)
process.stdout.write(
  `git status in 10,000 files: ${look.toFixed(1)} ms at the median, load ${loadavg()[0]?.toFixed(1)}\n`,
)
for (const [kind, times] of Object.entries(took)) {
  const cost = median(times.with) - median(times.without)
  process.stdout.write(
    `a turn that makes one ${kind}: ${cost.toFixed(1)} ms more (${median(times.without).toFixed(1)} -> ${median(times.with).toFixed(1)}), ${(cost / look).toFixed(2)}x git status\n`,
  )
  // A busy machine slows git as much as us, so git's own time is the measure.
  const limit = kind === "read" ? 2 : LIMIT_MS
  if (cost > limit && cost > look) process.exitCode = 1
}
