import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openFlusher } from "./flusher.ts"

const openScene = (beforeFlush?: () => void) => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-sync-"))
  const file = join(folder, "log.sqlite")
  writeFileSync(`${file}-wal`, "frames")
  return {
    file,
    flusher: openFlusher(`${file}-wal`, beforeFlush === undefined ? {} : { beforeFlush }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

test("without a commit there is nothing to wait for", async () => {
  using scene = openScene()
  rmSync(`${scene.file}-wal`)
  await scene.flusher.flushBeside()
  scene.flusher.close()
})

test("everyone who committed before a flush began shares it; a later commit gets the next one", async () => {
  using scene = openScene()
  const { flusher } = scene
  flusher.committed()
  const first = flusher.flushBeside()
  const joined = flusher.flushBeside()
  flusher.committed()
  const second = flusher.flushBeside()
  expect(joined).toBe(first)
  expect(second).not.toBe(first)
  expect(flusher.flushBeside()).toBe(second)
  const order: string[] = []
  await Promise.all([first.then(() => order.push("first")), second.then(() => order.push("second"))])
  expect(order).toEqual(["first", "second"])
  flusher.close()
})

test("who comes between two flushes joins the one that is about to begin", async () => {
  let begun = 0
  using scene = openScene(() => {
    begun += 1
  })
  const { flusher } = scene
  flusher.committed()
  const between = flusher.flushBeside().then(() => {
    flusher.committed()
    return flusher.flushBeside()
  })
  flusher.committed()
  await Promise.all([flusher.flushBeside(), between])
  expect([begun, flusher.isSafe()]).toEqual([2, true])
  flusher.close()
})

test("a flush that fails is an error for those who waited, and is tried again for the next", async () => {
  using scene = openScene()
  const { flusher, file } = scene
  rmSync(`${file}-wal`)
  flusher.committed()
  await expect(flusher.flushBeside()).rejects.toThrow("ENOENT")
  writeFileSync(`${file}-wal`, "frames")
  await flusher.flushBeside()
  flusher.close()
})

test("closing waits for the flush that runs, then gives the file back", async () => {
  using scene = openScene()
  const { flusher, file } = scene
  const free = openSync(file.replace("log.sqlite", ""), "r")
  closeSync(free)
  flusher.committed()
  const running = flusher.flushBeside()
  flusher.close()
  await running
  await new Promise(setImmediate)
  const again = openSync(`${file}-wal`, "r")
  expect(again).toBe(free)
  closeSync(again)
})

test("in place it is done when it returns", async () => {
  using scene = openScene()
  const { flusher, file } = scene
  flusher.committed()
  flusher.flush()
  expect(flusher.isSafe()).toBe(true)
  flusher.committed()
  expect(flusher.isSafe()).toBe(false)
  flusher.close()
  rmSync(`${file}-wal`)
  const other = openFlusher(`${file}-wal`)
  other.committed()
  expect(() => other.flush()).toThrow("ENOENT")
  expect(other.isSafe()).toBe(false)
})

test("a disk that was slow is not waited for in place until it was quick again", async () => {
  let pauseMs = 0
  using scene = openScene(() => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  })
  const { flusher } = scene
  const flushed = async (how: "in place" | "beside", ms: number): Promise<boolean> => {
    pauseMs = ms
    flusher.committed()
    if (how === "in place") flusher.flush()
    else await flusher.flushBeside()
    return flusher.isQuick()
  }
  expect(flusher.isQuick()).toBe(true)
  expect([await flushed("in place", 20), await flushed("beside", 20)]).toEqual([false, false])
  // Real disks have bad moments.
  for (let tries = 0; !(await flushed("beside", 0)); tries += 1) expect(tries).toBeLessThan(1_000)
  flusher.close()
})
