/**
 * What a worktree and an apply cost compared with git itself, in a repository of 10,000 files: `run spawn --worktree`
 * compared with the same run without one and with `git worktree add` alone; `run apply` compared with `git rebase` and a
 * fast-forward. Rounds are interleaved, so that a busy machine slows all sides, and medians are compared. The start-up of
 * the command is measured separately and subtracted.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { installPretendHarness } from "@meridian/testkit"

const BINARY = resolve("packages/cli/dist/meridian.js")
const ROUNDS = process.argv.includes("--quick") ? 4 : 9
const FILES = 10_000

const home = mkdtempSync(join(tmpdir(), "meridian-bench-"))
const project = join(home, "project")
const env = {
  PATH: `${join(home, "bin")}:/usr/local/bin:/usr/bin:/bin`,
  HOME: home,
  MERIDIAN_SUPERVISOR: "off",
  MERIDIAN_DEFAULT_PERMISSION_TIER: "workspace-write",
}

try {
  makeRepository()
  installPretendHarness(join(home, "bin"), {
    as: "claude",
    behaviour: { answer: "done", does: 'echo "$PWD" > "$(basename "$PWD").txt"' },
  })
  // Creates the space and fills the compile cache.
  meridian("run", "spawn", "-p", "x")
  git("add", "--all")
  git("commit", "-qm", "before")
  const times = new Map<string, number[]>()
  const note = (name: string, took: number): void => void times.set(name, [...(times.get(name) ?? []), took])
  for (let round = 0; round < ROUNDS; round += 1) {
    const tree = join(home, `tree-${round}`)
    let run = ""
    const sides = [
      () =>
        note(
          "git worktree add",
          timed(() => git("worktree", "add", "--quiet", "-b", `own-${round}`, tree)),
        ),
      () =>
        note(
          "run spawn --worktree",
          timed(() => {
            const said = meridian("run", "spawn", "--space", "s1", "--worktree", "-p", "x")
            run = /run_id=(r\d+)/.exec(said)?.[1] ?? ""
          }),
        ),
    ]
    // The second side to write 10,000 files waits for the disk of the first.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) side()
    note(
      "run spawn",
      timed(() => meridian("run", "spawn", "--space", "s1", "-p", "x")),
    )
    git("clean", "-qfd")
    // Both have one commit to apply, and the branch has moved.
    writeFileSync(join(tree, `own-${round}.txt`), "x")
    git("-C", tree, "add", "--all")
    git("-C", tree, "commit", "-qm", "own")
    writeFileSync(join(project, "moved.txt"), String(round))
    git("add", "moved.txt")
    git("commit", "-qm", "moved")
    note(
      "start-up",
      timed(() => meridian("run", "show", run, "--space", "s1")),
    )
    note(
      "run apply",
      timed(() => meridian("run", "apply", run, "--space", "s1")),
    )
    note(
      "git rebase",
      timed(() => git("-C", tree, "rebase", "--quiet", "main")),
    )
    git("merge", "--quiet", "--ff-only", `own-${round}`)
    git("worktree", "remove", "--force", tree)
  }
  const of = (name: string): number => median(times.get(name) ?? [])
  const made = of("run spawn --worktree") - of("run spawn")
  const applied = of("run apply") - of("start-up")
  process.stdout.write(`${FILES} files, ${ROUNDS} interleaved rounds, medians\n`)
  for (const name of times.keys())
    process.stdout.write(`${name.padEnd(22)} ${of(name).toFixed(0).padStart(6)} ms\n`)
  told("a worktree beside git worktree add", made, of("git worktree add"), 1.3, 50)
  told("apply beside git rebase", applied, of("git rebase"), 1.3, 0)
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}

function told(name: string, ours: number, floor: number, ratio: number, plus: number): void {
  const limit = floor * ratio + plus
  process.stdout.write(
    `${name}: ${ours.toFixed(0)} ms, ${(ours / floor).toFixed(2)}x (at most ${ratio}x${plus === 0 ? "" : ` + ${plus} ms`}: ${ours <= limit ? "yes" : "NO"})\n`,
  )
}

function timed(body: () => unknown): number {
  const began = performance.now()
  body()
  return performance.now() - began
}

function git(...words: readonly string[]): string {
  return execFileSync("git", words, {
    cwd: project,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  })
}

/** Returns its output on both streams. */
function meridian(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BINARY, ...words], {
    cwd: project,
    env,
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`${words.join(" ")} failed: ${stderr}`)
  return stdout + stderr
}

function makeRepository(): void {
  for (let folder = 0; folder < 100; folder += 1) {
    mkdirSync(join(project, `src/${folder}`), { recursive: true })
    for (let file = 0; file < FILES / 100; file += 1)
      writeFileSync(
        join(project, `src/${folder}/${file}.ts`),
        `export const value${file} = ${folder}\n`.repeat(20),
      )
  }
  writeFileSync(join(project, ".gitignore"), ".meridian/\n")
  git("init", "-q", "-b", "main")
  git("config", "user.name", "Somebody")
  git("config", "user.email", "somebody@example.org")
  // Packing in the background would disturb whatever is measured at that time.
  git("config", "gc.auto", "0")
  git("config", "maintenance.auto", "false")
  git("add", "--all")
  git("commit", "-qm", "first")
  git("gc", "--quiet")
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}
