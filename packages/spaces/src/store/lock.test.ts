import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterEach, beforeEach, expect, test, vi } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { probeLocks } from "./lock-probe.ts"
import { acquireLock, withLock } from "./lock.ts"

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lock-"))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const shellCanLock = (path: string): boolean => spawnSync("flock", ["-n", path, "true"]).status === 0

/** Another process that holds the lock until it is killed. */
const holdElsewhere = async (path: string) => {
  const child = spawn("flock", ["-F", path, "sh", "-c", "echo held; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
  })
  await once(child.stdout, "data")
  return child
}

verifies("session.blocked-lock-is-alive", async () => {
  const path = join(directory, "c1.lock")
  const lock = await acquireLock(path, { waitMs: 0 })
  expect(shellCanLock(path)).toBe(false)
  expect(await acquireLock(path, { waitMs: 0 })).toBeUndefined()
  expect(await probeLocks([path])).toEqual(new Set([path]))
  lock?.release()
  expect(shellCanLock(path)).toBe(true)
  expect(await probeLocks([path])).toEqual(new Set())
})

verifies(
  "session.blocked-lock-is-alive",
  async () => {
    const path = join(directory, "c1.lock")
    const holder = await holdElsewhere(path)
    expect(await probeLocks([path])).toEqual(new Set([path]))
    expect(await acquireLock(path, { waitMs: 50 })).toBeUndefined()
    holder.kill("SIGKILL")
    await once(holder, "exit")
    expect(await probeLocks([path])).toEqual(new Set())
  },
  "held by a shell",
)

test("a missing file is not held, and looking does not create it", async () => {
  const path = join(directory, "none.lock")
  expect(await probeLocks([path])).toEqual(new Set())
  expect(existsSync(path)).toBe(false)
})

test("hundreds of locks are probed independently", async () => {
  const paths = Array.from({ length: 600 }, (_, index) => join(directory, `c${index}.lock`))
  for (const path of paths) writeFileSync(path, "")
  const [first, last] = [paths[3] ?? "", paths[599] ?? ""]
  const locks = [await acquireLock(first, { waitMs: 0 }), await acquireLock(last, { waitMs: 0 })]
  expect(await probeLocks(paths)).toEqual(new Set([first, last]))
  for (const lock of locks) lock?.release()
})

test("if the lock file was replaced while we waited, we lock the new file", async () => {
  const path = join(directory, "c1.lock")
  const first = await acquireLock(path, { waitMs: 0 })
  const waiting = acquireLock(path, { waitMs: 5000 })
  first?.release({ remove: true })
  const second = await waiting
  expect(second).toBeDefined()
  expect(shellCanLock(path)).toBe(false)
  second?.release({ remove: true })
  expect(existsSync(path)).toBe(false)
})

test("two sections of the same lock never overlap, even inside one process", async () => {
  const path = join(directory, "x.lock")
  let inside = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 8 }, () =>
      withLock(path, async () => {
        inside += 1
        most = Math.max(most, inside)
        await new Promise(setImmediate)
        inside -= 1
      }),
    ),
  )
  expect(most).toBe(1)
})

test("a killed helper says nothing about the lock, so it is asked again", async () => {
  const bin = join(directory, "bin")
  mkdirSync(bin)
  const mark = join(directory, "killed")
  // As in a shutdown: the first helper is told to end like every process.
  writeFileSync(
    join(bin, "flock"),
    `#!/bin/sh\nif [ ! -e '${mark}' ]; then touch '${mark}'; kill -TERM $$; fi\nPATH="\${PATH#*:}" exec flock "$@"\n`,
    { mode: 0o755 },
  )
  // oxlint-disable-next-line node/no-process-env -- where the helper is looked for
  vi.stubEnv("PATH", `${bin}:${process.env["PATH"] ?? ""}`)
  try {
    const lock = await acquireLock(join(directory, "a.lock"), { waitMs: 5_000 })
    expect(lock).toBeDefined()
    expect(existsSync(mark)).toBe(true)
    lock?.release()
  } finally {
    vi.unstubAllEnvs()
  }
})
