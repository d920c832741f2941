/**
 * A disk that can be filled under a file system that does not know it: writes are accepted and fail when they are flushed,
 * as on a thin volume or a failing drive. And what a power cut would leave of it.
 *
 * Where the machine allows it (Linux, root, loop devices) it is a real ext4 in a sparse image on a small tmpfs. Elsewhere
 * the flush of the log is interposed: it fails while the disk is full, and what it failed to write stays unwritten.
 */
import { spawnSync } from "node:child_process"
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"

import type { DatabaseOptions } from "../packages/engine/src/store/sqlite/database.ts"
import { makeDirectory } from "./engine-scene.ts"

export interface FillableDisk extends Disposable {
  readonly kind: "loop" | "interposed"
  readonly folder: string
  /** Options to open the engine with. */
  readonly sqlite: Pick<DatabaseOptions, "flushFile">
  readonly fill: () => void
  readonly makeRoom: () => void
  /** What is on the disk now. Data written but not flushed is missing. */
  readonly afterPowerCut: () => { readonly folder: string } & Disposable
}

export const openFillableDisk = (): FillableDisk => openLoopDisk() ?? openInterposedDisk()

const run = (command: string, ...options: readonly string[]): boolean =>
  spawnSync(command, options, { stdio: "ignore", timeout: 20_000 }).status === 0

const IMAGE_MB = 32
const ROOM_MB = 12

const openLoopDisk = (): FillableDisk | undefined => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined
  const base = makeDirectory()
  const room = join(base, "room")
  const folder = join(base, "disk")
  const image = join(room, "image")
  const filler = join(room, "filler")
  const mounted: string[] = []
  const close = (): void => {
    for (const place of mounted.splice(0).toReversed()) run("umount", "-l", place)
    rmSync(base, { recursive: true, force: true })
  }
  const mount = (place: string, ...options: readonly string[]): boolean => {
    mkdirSync(place)
    if (!run("mount", ...options, place)) return false
    mounted.push(place)
    return true
  }
  const isReady =
    mount(room, "-t", "tmpfs", "-o", `size=${ROOM_MB}m`, "tmpfs") &&
    makeImage(image) &&
    mount(folder, "-o", "loop,errors=continue", image)
  if (!isReady) {
    close()
    return undefined
  }
  return {
    kind: "loop",
    folder,
    sqlite: {},
    fill: () => fillUp(filler),
    makeRoom: () => rmSync(filler),
    afterPowerCut: () => {
      const copy = join(base, "copy")
      const found = join(base, "found")
      copyFileSync(image, copy)
      if (!mount(found, "-o", "loop", copy)) throw new Error("the image of the disk cannot be mounted")
      return { folder: found, [Symbol.dispose]: () => undefined }
    },
    [Symbol.dispose]: close,
  }
}

/** Without a journal, which would make the file system read-only at the first error. */
const makeImage = (image: string): boolean => {
  writeFileSync(image, "")
  truncateSync(image, IMAGE_MB << 20)
  return run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0", image)
}

const fillUp = (file: string): void => {
  const descriptor = openSync(file, "w")
  const page = Buffer.alloc(4_096)
  try {
    for (;;) writeSync(descriptor, page)
  } catch {
    // The disk is full.
  } finally {
    closeSync(descriptor)
  }
}

const SECTOR = 512

/**
 * Keeps the bytes of the log that reached the disk in a second file. A failed flush leaves out the bytes it should have
 * written.
 */
const openInterposedDisk = (): FillableDisk => {
  const folder = makeDirectory()
  const log = join(folder, "engine.sqlite-wal")
  let isFull = false
  let written = Buffer.alloc(0)
  let onDisk = Buffer.alloc(0)
  const flush = (descriptor: number): void => {
    const now = Buffer.alloc(fstatSync(descriptor).size)
    readSync(descriptor, now, 0, now.length, 0)
    const before = written
    written = now
    if (isFull) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
    const disk = Buffer.alloc(now.length)
    onDisk.copy(disk)
    for (let place = 0; place < now.length; place += SECTOR) {
      const sector = now.subarray(place, place + SECTOR)
      if (!sector.equals(before.subarray(place, place + SECTOR))) sector.copy(disk, place)
    }
    onDisk = disk
  }
  return {
    kind: "interposed",
    folder,
    sqlite: { flushFile: { beside: async (descriptor) => flush(descriptor), inPlace: flush } },
    fill: () => {
      isFull = true
    },
    makeRoom: () => {
      isFull = false
    },
    afterPowerCut: () => {
      const found = makeDirectory()
      copyFileSync(join(folder, "engine.sqlite"), join(found, "engine.sqlite"))
      if (existsSync(log)) writeFileSync(join(found, "engine.sqlite-wal"), onDisk)
      return { folder: found, [Symbol.dispose]: () => rmSync(found, { recursive: true, force: true }) }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
