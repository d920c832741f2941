/** Supervisors that meet each other, one of another version, silent runs, and a full disk. */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, onTestFinished } from "vitest"

import { measureSupervisor } from "../../bench/days/supervisor.ts"
import { acquireLock } from "../../packages/spaces/src/store/lock.ts"
import { document } from "../e2e/cli-binary.ts"
import { attempts, begun, ended, openOutliving, SAID, until } from "../scene/outliving.ts"
import { verifies } from "../verifies.ts"

const SUPERVISOR = "run supervise"

verifies("supervisor.one", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  const second = await scene.run("run", "supervise", "--json")
  expect(document(second)).toEqual({ worked: false })
  expect(scene.count(SUPERVISOR)).toBe(1)
})

verifies("supervisor.version", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  const version = join(scene.project, ".meridian/.spaces/supervisor.version")
  const ours = readFileSync(version, "utf8")
  // A newer Meridian has worked here. We must not write any more, and its record is not ours.
  writeFileSync(version, "999\n")
  await until(() => scene.count(SUPERVISOR) === 0)
  await scene.run("up")
  expect(document(await scene.run("run", "supervise", "--json"))).toEqual({ worked: false })
  expect(scene.status()).toBe("running")
  expect(ours).toMatch(/^\d+\n$/)
})

verifies(
  "supervisor.version",
  async () => {
    const scene = openOutliving({ noise: [SAID], hold: true })
    const spaces = join(scene.project, ".meridian/.spaces")
    mkdirSync(spaces, { recursive: true })
    const version = join(spaces, "supervisor.version")
    writeFileSync(version, "1\n")
    // Like an older one at work: it looks once a second, and makes room.
    const older = await acquireLock(join(spaces, "supervisor.lock"), { waitMs: 0 })
    const beginning = begun(scene)
    await until(() => readFileSync(version, "utf8") !== "1\n")
    older?.release({ remove: true })
    await beginning
    scene.claude.behave({ answer: "All done." })
    scene.kill("run worker")
    scene.kill("play.entry")
    expect(attempts(await ended(scene))).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
  },
  "an older one makes room for a newer",
)

verifies("supervisor.small", async () => {
  const idle = await measureSupervisor(1_000, 5_000)
  // The benchmark holds it to 60 MB after a minute. A supervisor with all compilers of V8 needs 68. Only Linux tells.
  expect(idle?.megabytes ?? 0).toBeLessThan(64)
})

verifies("run.stalls", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true, env: { MERIDIAN_STALL_MINUTES: "0.03" } })
  await begun(scene)
  const shown = await ended(scene, "failed")
  expect(shown).toMatchObject({ failure_reason: "stalled" })
  expect(attempts(shown)).toMatchObject([{ why: "stalled" }, { why: "stalled" }])
  expect(scene.claude.calls()[1]?.stdin).toMatch(/^\[meridian\] This run gave no sign of life/)
})

verifies(
  "run.stalls",
  async () => {
    const scene = openOutliving({
      noise: [SAID],
      listens: "kept",
      hold: true,
      env: { MERIDIAN_STALL_MINUTES: "0.03" },
    })
    await begun(scene)
    await ended(scene, "failed")
    expect(scene.claude.calls()[0]?.heard).toContain("Nothing was heard from you for a long time.")
  },
  "it is asked before it is stopped",
)

verifies(
  "run.stalls",
  async () => {
    const go = join(openOutliving().home, "go")
    // Silent, but one of its processes computes. As long as it does, nothing interrupts it.
    const scene = openOutliving({
      noise: [SAID],
      does: `n=0; while [ ! -e ${JSON.stringify(go)} ]; do n=$((n+1)); done`,
      env: { MERIDIAN_STALL_MINUTES: "0.05" },
    })
    await begun(scene)
    // That something does not happen shows only after giving it the time: two silences.
    await new Promise((resolve) => setTimeout(resolve, 7_000))
    expect(scene.status()).toBe("running")
    writeFileSync(go, "")
    expect(attempts(await ended(scene))).toMatchObject([{ why: "succeeded" }])
  },
  "one that computes is left alone",
)

verifies("run.no-progress", async () => {
  const scene = openOutliving({ hang: "before" })
  await scene.run("run", "spawn", "--background", "-p", "build the parser")
  for (let death = 1; death <= 5; death += 1) {
    await until(() => scene.claude.calls().length === death)
    const { pid = 0 } = scene.claude.calls()[death - 1] ?? {}
    scene.kill("run worker")
    process.kill(pid, "SIGKILL")
  }
  const shown = await ended(scene, "failed")
  expect(shown).toMatchObject({ failure_reason: "orphan_run" })
  expect(String(shown["message"])).toContain("5 attempts in a row said and did nothing")
  expect(scene.claude.calls()).toHaveLength(5)
})

verifies("run.far-limit", async () => {
  const words = "usage limit reached, resets in 20 days"
  const scene = openOutliving({ failFirst: { times: 1, failure: "rate_limit", words }, answer: "All done." })
  await scene.run("run", "spawn", "--background", "-p", "build the parser")
  const paused = await ended(scene, "paused")
  expect(paused).toMatchObject({
    waiting_for: "question",
    message: expect.stringContaining("more than seven days"),
  })
  await scene.run("run", "resume", "r1", "--space", "s1")
  await ended(scene)
})

verifies("run.full-disk", async () => {
  const go = join(openOutliving().home, "go")
  const words = "usage limit reached, resets in 2 seconds"
  const failFirst = { times: 1, failure: "rate_limit", words } as const
  const scene = openOutliving({ noise: [SAID], release: go, failFirst, answer: "All done." })
  const state = join(scene.project, ".meridian")
  mkdirSync(state)
  // Without the right to mount there is no full disk; the rest is tested anyway.
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", state]).status === 0
  onTestFinished(() => {
    if (isMounted) spawnSync("umount", ["-l", state])
  })
  await begun(scene)
  const filler = join(state, "filler")
  if (isMounted) fill(filler, state)
  writeFileSync(go, "")
  await until(() => !isMounted || scene.count("run worker") === 0)
  if (isMounted) expect(scene.status()).toBe("running")
  rmSync(filler, { force: true })
  const shown = await ended(scene)
  expect(shown).toMatchObject({ report_summary: "All done." })
  // No busy loop in that time: one worker after growing pauses.
  expect(scene.claude.calls().length).toBeLessThan(5)
})

const fill = (file: string, disk: string): void => {
  writeFileSync(file, "")
  for (let block = 65_536; block > 0;) {
    const { bavail, bsize } = statfsSync(disk)
    if (bavail === 0) return
    try {
      writeFileSync(file, Buffer.alloc(Math.min(block, bavail * bsize)), { flag: "a" })
    } catch {
      block = Math.floor(block / 2)
    }
  }
}
