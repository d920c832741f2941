import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openFlusher, type FlusherOptions } from "./flusher.ts"

const openScene = (beforeFlush?: () => void, options: FlusherOptions = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-sync-"))
  const file = join(folder, "log.sqlite")
  writeFileSync(`${file}-wal`, "frames")
  return {
    file,
    flusher: openFlusher(`${file}-wal`, beforeFlush === undefined ? options : { ...options, beforeFlush }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

test("without a commit there is nothing to wait for", async () => {
  using scene = openScene()
  rmSync(`${scene.file}-wal`)
  await scene.flusher.flushBeside()
  scene.flusher.close()
})

test("all commits made before a flush began share it; a later commit gets the next one", async () => {
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

test("a commit between two flushes joins the next one", async () => {
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

const EIO = (): never => {
  throw Object.assign(new Error("i/o error"), { code: "EIO" })
}

/** A disk that fails on command, and a log that is mended on command. */
const openFailing = (options: FlusherOptions = {}) => {
  const how = { disk: true, mend: true }
  const done: string[] = []
  const flush = (): void => {
    done.push("flush")
    if (!how.disk) EIO()
  }
  const scene = openScene(undefined, {
    ...options,
    flushFile: { beside: async () => flush(), inPlace: flush },
    onTorn: () => done.push("torn"),
    mend: ({ state }) => {
      done.push(`mend ${state}`)
      if (!how.mend) EIO()
    },
  })
  return { ...scene, how, done }
}

test("a failed flush is an error for its waiters, and nothing is safe until the log was mended", async () => {
  using scene = openFailing()
  const { flusher, how, done } = scene
  flusher.committed()
  how.disk = false
  await expect(flusher.flushBeside()).rejects.toThrow("i/o error")
  how.disk = true
  how.mend = false
  await expect(flusher.flushBeside()).rejects.toThrow("i/o error")
  expect(() => flusher.flush()).toThrow("i/o error")
  flusher.committed()
  await expect(flusher.flushBeside()).rejects.toThrow("i/o error")
  expect(flusher.isSafe()).toBe(false)
  how.mend = true
  await flusher.flushBeside()
  expect(flusher.isSafe()).toBe(true)
  flusher.committed()
  await flusher.flushBeside()
  const refused = ["mend torn", "torn"]
  expect(done).toEqual(["flush", "torn", ...refused, ...refused, ...refused, "mend torn", "flush", "flush"])
  flusher.close()
})

test("a failure reported to only one of two flushes holds for both", async () => {
  const first = Promise.withResolvers<void>()
  using scene = openScene(undefined, { flushFile: { beside: () => first.promise, inPlace: EIO } })
  const { flusher } = scene
  flusher.committed()
  const beside = flusher.flushBeside()
  expect(() => flusher.flush()).toThrow("i/o error")
  first.resolve()
  await expect(beside).rejects.toThrow("another flush of the log failed")
  expect(flusher.isSafe()).toBe(false)
  flusher.close()
})

test("a failed write of SQLite is distrusted as well", () => {
  using scene = openFailing()
  scene.flusher.distrust()
  scene.flusher.committed()
  scene.flusher.flush()
  expect(scene.done).toEqual(["torn", "mend torn", "flush"])
  scene.flusher.close()
})

test("a log that was there before us is mended once", () => {
  using scene = openFailing({ isInherited: true })
  for (const _ of [1, 2]) {
    scene.flusher.committed()
    scene.flusher.flush()
  }
  expect(scene.done).toEqual(["mend inherited", "flush", "flush"])
  scene.flusher.close()
})

test("closing waits for the running flush, then closes the file", async () => {
  using scene = openScene()
  const { flusher, file } = scene
  flusher.committed()
  const running = flusher.flushBeside()
  flusher.close()
  await running
  await new Promise(setImmediate)
  const again = openSync(`${file}-wal`, "r")
  expect(again).toBe(flusher.descriptor)
  closeSync(again)
})

test("in place it is complete when it returns", async () => {
  using scene = openScene()
  const { flusher } = scene
  flusher.committed()
  flusher.flush()
  expect(flusher.isSafe()).toBe(true)
  flusher.committed()
  expect(flusher.isSafe()).toBe(false)
  flusher.close()
})

test("after a slow flush nothing waits in place until the disk is fast again", async () => {
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
