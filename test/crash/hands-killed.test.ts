/**
 * Processes die at their calls of git (`git-trap.ts`). Every call of a spawn, an apply, a diff, a discard and of doctor is used
 * once.
 */
import { expect } from "vitest"

import { trapIn, type Trap } from "../scene/git-trap.ts"
import { openRepositoryScene, type RepositoryScene } from "../scene/repository.ts"
import { until, processesOf } from "../scene/spaces.ts"
import { verifies } from "../verifies.ts"

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

/** Nothing is changed by looking, and the next look is whole. */
const diffKilled = async (): Promise<void> => {
  const scene = openHouse()
  const trap = trapIn(scene)
  await scene.call("run.spawn", SPAWN)
  const before = scene.checkout()
  const look = (): ReturnType<typeof scene.start>["ended"] =>
    scene.start("run.diff", { run_id: "r1", space: "s1" }, { env: trap.env }).ended
  trap.set(0, "before")
  const { stdout } = await look()
  expect(stdout).toContain("+three")
  await killEach(scene, { trap, calls: trap.calls(), act: look })
  expect(scene.checkout()).toBe(before)
  trap.set(0, "before")
  expect((await look()).stdout).toBe(stdout)
  await worksOn(scene)
}

/** Each discards work of its own: what one leaves must not be in the way of the next. */
const discardKilled = async (share: number): Promise<void> => {
  const scene = openHouse()
  const trap = trapIn(scene)
  const before = scene.checkout()
  let runs = 0
  const begin = async (): Promise<string> => {
    const { document } = await scene.call("run.spawn", runs === 0 ? SPAWN : { ...SPAWN, space: "s1" })
    runs += 1
    return String(document["run_id"])
  }
  const discard = (run: string): ReturnType<typeof scene.start>["ended"] =>
    scene.start("run.discard", { run_ids: [run], space: "s1" }, { env: trap.env }).ended
  const first = await begin()
  trap.set(0, "before")
  expect((await discard(first)).code).toBe(0)
  const calls = trap.calls()
  for (const way of WAYS)
    for (let call = share; call <= calls; call += SHARES.length) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- one after the other, in one repository
      const run = await begin()
      trap.set(call, whenOf(call, way))
      await discard(run).then(({ signal }) => expect(`${call} ${signal}`).toBe(`${call} SIGKILL`))
      await settled(scene)
      expect(scene.checkout()).toBe(before)
      trap.set(0, "before")
      await discard(run)
      const shown = await scene.call("run.show", { run_id: run, space: "s1" })
      expect(shown.document).toMatchObject({ worktree: { state: "discarded" } })
      // Nothing it did is lost: a ref has it.
      expect(scene.git("for-each-ref", "--format=%(refname)", "refs/meridian/discarded")).toContain(`-${run}`)
    }
  await worksOn(scene)
}

/** What it clears away, it clears away the next time. */
const doctorKilled = async (): Promise<void> => {
  const scene = openHouse()
  const trap = trapIn(scene)
  await scene.call("run.spawn", SPAWN)
  const before = scene.checkout()
  const doctor = (): ReturnType<typeof scene.start>["ended"] =>
    scene.start("doctor", {}, { env: trap.env }).ended
  trap.set(0, "before")
  await doctor()
  await killEach(scene, { trap, calls: trap.calls(), act: doctor })
  expect(scene.checkout()).toBe(before)
  await worksOn(scene)
}

const killEach = async (
  scene: RepositoryScene,
  {
    trap,
    calls,
    act,
  }: {
    readonly trap: Trap
    readonly calls: number
    readonly act: () => Promise<{ readonly signal: string | null }>
  },
): Promise<void> => {
  expect(calls).toBeGreaterThan(0)
  for (const way of WAYS)
    for (let call = 1; call <= calls; call += 1) {
      trap.set(call, whenOf(call, way))
      // oxlint-disable-next-line eslint/no-await-in-loop -- one after the other, in one repository
      const { signal } = await act()
      expect(`${call} ${signal}`).toBe(`${call} SIGKILL`)
      await settled(scene)
    }
}

verifies("hands.killed", diffKilled, "while it is looked at")
verifies("hands.killed", doctorKilled, "while doctor looks")

for (const share of SHARES) {
  verifies("hands.killed", () => spawnKilled(share), `while it is spawned, share ${share}`)
  verifies("hands.killed", () => applyKilled(share), `while it is applied, share ${share}`)
  verifies("hands.killed", () => discardKilled(share), `while it is discarded, share ${share}`)
}
