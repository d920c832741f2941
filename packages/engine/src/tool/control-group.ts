/**
 * A Linux control group (version 2). Every process started in it stays in it, even one that left its session and cleared
 * its environment, and one write ends them all. It is available to root and to users whose group systemd has delegated to
 * them. Elsewhere processes are known only by process group and marks.
 *
 * The name shows the owner: `meridian-<pid namespace>-<pid>-<random>`. When an engine died together with its guard, the
 * next engine ends its group.
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { systemCode } from "@meridian/protocol"

import { pause } from "../port/machine-time.ts"
import { TOOL_LIMITS } from "./limits.ts"

export interface ControlGroup {
  /** A process that writes its pid into `cgroup.procs` in this folder joins the group. */
  readonly folder: string
  readonly processes: () => ReadonlySet<number>
  /** Kills what is left and removes the group. */
  readonly end: () => Promise<void>
}

/** Undefined where the system offers us none. */
export const openControlGroup = (chance: string): ControlGroup | undefined => {
  if (process.platform !== "linux") return undefined
  try {
    const parent = ownGroup()
    const space = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? ""
    endAbandoned(parent, space)
    const folder = join(parent, `meridian-${space}-${process.pid}-${chance.slice(0, 12)}`)
    mkdirSync(folder)
    try {
      // Older kernels cannot end a group with one write.
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

/** True when the group is gone. It can be removed only when it is empty, zombies included. */
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
