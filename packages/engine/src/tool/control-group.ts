/**
 * A control group of Linux (version 2). Whatever is started in it stays in it, also a process that left its session and
 * cleared its environment, and all of it ends at one word. It is there for root, and for users to whom systemd has delegated
 * their group; elsewhere processes are known by their process group and their marks alone.
 *
 * The name of a group says whose it is: `meridian-<pid namespace>-<pid>-<chance>`. One whose engine died together with its
 * guard is ended by the next engine.
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { systemCode } from "@meridian/protocol"

import { pause } from "../port/machine-time.ts"
import { TOOL_LIMITS } from "./limits.ts"

export interface ControlGroup {
  /** A process that writes its number into `cgroup.procs` there belongs to it. */
  readonly folder: string
  readonly processes: () => ReadonlySet<number>
  /** Kills what is left and removes the group. */
  readonly end: () => Promise<void>
}

/** Undefined where the system has none for us. */
export const openControlGroup = (chance: string): ControlGroup | undefined => {
  if (process.platform !== "linux") return undefined
  try {
    const parent = ownGroup()
    const space = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? ""
    endAbandoned(parent, space)
    const folder = join(parent, `meridian-${space}-${process.pid}-${chance.slice(0, 12)}`)
    mkdirSync(folder)
    try {
      // Older kernels have no word that ends a group.
      readFileSync(join(folder, "cgroup.procs"))
      writeFileSync(join(folder, "cgroup.kill"), "1")
    } catch (cause) {
      rmdirSync(folder)
      throw cause
    }
    return { folder, processes: () => processesOf(folder), end: () => end(folder) }
  } catch {
    return undefined
  }
}

const ownGroup = (): string => {
  const mount = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .find(([, , type]) => type === "cgroup2")?.[1]
  const path = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1]
  if (mount === undefined || path === undefined) throw new Error("no control groups of version 2")
  return join(mount, path)
}

const processesOf = (folder: string): ReadonlySet<number> => {
  try {
    const lines = readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n")
    return new Set(lines.filter((line) => line !== "").map(Number))
  } catch {
    return new Set()
  }
}

const PAUSE_MS = 10

const end = async (folder: string): Promise<void> => {
  for (let waitedMs = 0; !killAndRemove(folder) && waitedMs < TOOL_LIMITS.leftoversMs; waitedMs += PAUSE_MS)
    await pause(PAUSE_MS)
}

/** True when it is gone. It can be removed only when nothing of it is left, zombies included. */
const killAndRemove = (folder: string): boolean => {
  try {
    writeFileSync(join(folder, "cgroup.kill"), "1")
    rmdirSync(folder)
    return true
  } catch (cause) {
    return systemCode(cause) === "ENOENT"
  }
}

const endAbandoned = (parent: string, space: string): void => {
  for (const name of readdirSync(parent)) {
    const [, spaceOf, pid] = /^meridian-(\d+)-(\d+)-/.exec(name) ?? []
    if (spaceOf === space && pid !== undefined && !isAlive(Number(pid))) killAndRemove(join(parent, name))
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return systemCode(cause) !== "ESRCH"
  }
}
