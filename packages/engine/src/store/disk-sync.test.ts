import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openDiskSync } from "./disk-sync.ts"

const openScene = (beforeFlush?: () => void) => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-sync-"))
  const file = join(folder, "log.sqlite")
  writeFileSync(`${file}-wal`, "frames")
  return {
    file,
    disk: openDiskSync(file, beforeFlush),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

test("without a commit there is nothing to wait for", async () => {
  using scene = openScene()
  rmSync(`${scene.file}-wal`)
  await scene.disk.synced()
  scene.disk.close()
})

test("everyone who committed before a flush began shares it; a later commit gets the next one", async () => {
  using scene = openScene()
  const { disk } = scene
  disk.committed(false)
  const first = disk.synced()
  const joined = disk.synced()
  disk.committed(false)
  const second = disk.synced()
  expect(joined).toBe(first)
  expect(second).not.toBe(first)
  expect(disk.synced()).toBe(second)
  const order: string[] = []
  await Promise.all([first.then(() => order.push("first")), second.then(() => order.push("second"))])
  expect(order).toEqual(["first", "second"])
  disk.close()
})

test("who comes between two flushes joins the one that is about to begin", async () => {
  let begun = 0
  using scene = openScene(() => {
    begun += 1
  })
  const { disk } = scene
  disk.committed(false)
  const between = disk.synced().then(() => {
    disk.committed(false)
    return disk.synced()
  })
  disk.committed(false)
  await Promise.all([disk.synced(), between])
  expect([begun, disk.isSafe()]).toEqual([2, true])
  disk.close()
})

test("a commit that SQLite has flushed makes those before it safe", async () => {
  using scene = openScene()
  const { disk, file } = scene
  disk.committed(false)
  disk.committed(true)
  rmSync(`${file}-wal`)
  await disk.synced()
  disk.committed(false)
  await expect(disk.synced()).rejects.toThrow("ENOENT")
  disk.close()
})

test("a flush that fails is an error for those who waited, and is tried again for the next", async () => {
  using scene = openScene()
  const { disk, file } = scene
  rmSync(`${file}-wal`)
  disk.committed(false)
  await expect(disk.synced()).rejects.toThrow("ENOENT")
  writeFileSync(`${file}-wal`, "frames")
  await disk.synced()
  disk.close()
})

test("closing waits for the flush that runs, then gives the file back", async () => {
  using scene = openScene()
  const { disk, file } = scene
  const free = openSync(file.replace("log.sqlite", ""), "r")
  closeSync(free)
  disk.committed(false)
  const running = disk.synced()
  disk.close()
  await running
  await new Promise(setImmediate)
  const again = openSync(`${file}-wal`, "r")
  expect(again).toBe(free)
  closeSync(again)
})

test("in place it is done when it returns", async () => {
  using scene = openScene()
  const { disk, file } = scene
  disk.committed(false)
  disk.flush()
  expect(disk.isSafe()).toBe(true)
  disk.committed(false)
  expect(disk.isSafe()).toBe(false)
  disk.close()
  rmSync(`${file}-wal`)
  const other = openDiskSync(file)
  other.committed(false)
  expect(() => other.flush()).toThrow("ENOENT")
  expect(other.isSafe()).toBe(false)
})

test("a disk that was slow is not waited for in place until it was quick again", async () => {
  let pauseMs = 0
  using scene = openScene(() => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  })
  const { disk } = scene
  const flushed = async (how: "in place" | "beside", ms: number): Promise<boolean> => {
    pauseMs = ms
    disk.committed(false)
    if (how === "in place") disk.flush()
    else await disk.synced()
    return disk.isQuick()
  }
  expect(disk.isQuick()).toBe(true)
  expect([await flushed("in place", 20), await flushed("beside", 20)]).toEqual([false, false])
  // Real disks have bad moments.
  for (let tries = 0; !(await flushed("beside", 0)); tries += 1) expect(tries).toBeLessThan(1_000)
  disk.close()
})
