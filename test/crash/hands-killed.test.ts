import { execFileSync } from "node:child_process"
/**
 * A `git` first on PATH counts its calls, and at one of them kills its caller, before git has run or after it. Every call
 * of a spawn, and of an apply, is used once.
 */
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { openRepositoryScene, type RepositoryScene } from "../scene/repository.ts"
import { until, processesOf } from "../scene/spaces.ts"
import { verifies } from "../verifies.ts"

const REAL = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim()

interface Trap {
  readonly env: Readonly<Record<string, string>>
  /** Selects the call to kill, counted from now on; 0 only counts. */
  readonly set: (call: number, when: "before" | "behind") => void
  readonly calls: () => number
}

const trapIn = (scene: RepositoryScene): Trap => {
  const folder = join(scene.env["HOME"] ?? "", "trap")
  mkdirSync(folder)
  const file = (name: string): string => join(folder, name)
  // The caller is identified by its process id: a harness that calls git itself is left alone.
  writeFileSync(
    file("git"),
    `#!/bin/sh
if [ "$(tr '\\0' '\\n' < /proc/$PPID/environ 2>/dev/null | grep -c '^TRAP_OWNER=1')" = 1 ] && [ -e ${file("armed")} ] && [ -z "$MERIDIAN_PARENT_RUN_ID" ]; then
  count=1
  until mkdir ${file("calls")}/$count 2>/dev/null; do count=$((count + 1)); done
  if [ "$count" -eq "$(cat ${file("armed")})" ]; then
    if [ "$(cat ${file("when")})" = behind ]; then ${REAL} "$@"; fi
    kill -9 $PPID
    exit 1
  fi
fi
exec ${REAL} "$@"
`,
  )
  chmodSync(file("git"), 0o755)
  return {
    env: { PATH: `${folder}:${scene.env["PATH"] ?? ""}`, TRAP_OWNER: "1" },
    set: (call, when) => {
      rmSync(file("calls"), { recursive: true, force: true })
      mkdirSync(file("calls"))
      writeFileSync(file("when"), when)
      writeFileSync(file("armed"), String(call))
    },
    calls: () => readdirSync(file("calls")).length,
  }
}

const SPAWN = {
  prompt: "do it",
  harness: "claude",
  permission: "workspace-write",
  with_changes: true,
  check: "grep -q two a.txt",
}
const DOES = "echo two > a.txt; git commit -qam own; echo three > c.txt"

const openHouse = (): RepositoryScene => {
  const scene = openRepositoryScene({ "a.txt": "one\n", "d.txt": "d\n" })
  scene.write({ "d.txt": "mine\n", "new.txt": "mine too\n" })
  scene.harness("claude", { answer: "done", does: DOES })
  return scene
}

/** Killed processes have children. None of them may still be working when we look. */
const settled = async (scene: RepositoryScene): Promise<void> => {
  await until(() => processesOf(scene.env["HOME"] ?? "").length === 0)
}

/** Later commands are not blocked, and every commit is there. */
const worksOn = async (scene: RepositoryScene): Promise<void> => {
  await scene.call("doctor", {}, { confirm: () => false })
  const next = await scene.call("run.spawn", { ...SPAWN, space: "s1" })
  expect(next.document).toMatchObject({ status: "succeeded", verdict: "verified" })
  const run = String(next.document["run_id"])
  const applied = await scene.call("run.apply", { run_ids: [run], space: "s1" })
  expect(applied.document).toMatchObject({ left: [] })
  expect([scene.read("a.txt"), scene.read("c.txt")]).toEqual(["two\n", "three\n"])
  expect(scene.read("d.txt")).toBe("mine\n")
  expect(scene.git("fsck", "--no-dangling")).not.toMatch(/missing|broken|error/)
}

/** Each call is killed once, every second one behind it; with MERIDIAN_KILLS=all each is killed in both ways. */
// oxlint-disable-next-line node/no-process-env -- how long somebody wants to wait
const WAYS = process.env["MERIDIAN_KILLS"] === "all" ? [0, 1] : [0]
const whenOf = (call: number, way: number): "before" | "behind" =>
  (call + way) % 2 === 0 ? "before" : "behind"

/** This many tests share the calls, so that none takes long on a busy machine. */
const SHARES = [1, 2, 3, 4, 5, 6] as const

const spawnKilled = async (share: number): Promise<void> => {
  const scene = openHouse()
  const trap = trapIn(scene)
  trap.set(0, "before")
  const begun = await scene.start("run.spawn", SPAWN, { env: trap.env }).ended
  expect(begun.code).toBe(0)
  const calls = trap.calls()
  expect(calls).toBeGreaterThan(5)
  const before = scene.checkout()
  for (const way of WAYS)
    for (let call = share; call <= calls; call += SHARES.length) {
      trap.set(call, whenOf(call, way))
      const killed = await scene.start("run.spawn", { ...SPAWN, space: "s1" }, { env: trap.env }).ended
      expect(`${call} ${killed.signal}`).toBe(`${call} SIGKILL`)
      await settled(scene)
      expect(scene.checkout()).toBe(before)
    }
  await worksOn(scene)
}

const applyKilled = async (share: number): Promise<void> => {
  for (const way of WAYS) {
    const scene = openHouse()
    const trap = trapIn(scene)
    await scene.call("run.spawn", SPAWN)
    const before = scene.checkout()
    // Until it succeeds, however many calls that takes.
    for (let call = share; scene.read("c.txt") === undefined; call += SHARES.length) {
      trap.set(call, whenOf(call, way))
      await scene.start("run.apply", { run_ids: ["r1"], space: "s1" }, { env: trap.env }).ended
      await settled(scene)
      if (scene.checkout() === before) continue
      const doctor = await scene.call("doctor", {}, { confirm: () => false })
      expect(doctor.document["warnings"]).toEqual([])
      // All of it or nothing.
      if (scene.read("c.txt") === undefined) expect(`${call} ${scene.checkout()}`).toBe(`${call} ${before}`)
    }
    const files = ["a.txt", "c.txt", "d.txt"].map((path) => scene.read(path))
    expect(files).toEqual(["two\n", "three\n", "mine\n"])
    expect(scene.git("log", "--format=%s")).toBe("do it\nfirst")
    expect(scene.git("status", "--porcelain")).toBe(" M d.txt\n?? new.txt")
    expect(scene.git("fsck", "--no-dangling")).not.toMatch(/missing|broken|error/)
    await scene.call("doctor", {}, { confirm: () => false })
    const shown = await scene.call("run.show", { run_id: "r1", space: "s1" })
    expect(shown.document).toMatchObject({ worktree: { state: "applied" } })
  }
}

for (const share of SHARES) {
  verifies("hands.killed", () => spawnKilled(share), `while it is spawned, share ${share}`)
  verifies("hands.killed", () => applyKilled(share), `while it is applied, share ${share}`)
}
