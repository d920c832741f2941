/** Which processes are alive, how to identify them, and how to end them. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

import { sameProcess, type ProcessMark } from "../domain/process-mark.ts"

/** Undefined if there is no such process, or if it is dead and its parent has not collected it yet. */
export const markOf = (pid: number): ProcessMark | undefined => {
  const started = process.platform === "linux" ? startedOnLinux(pid) : startedByPs(pid)
  return started === undefined ? undefined : { pid, started }
}

export const isAlive = (mark: ProcessMark): boolean => {
  const now = markOf(mark.pid)
  return now !== undefined && sameProcess(now, mark)
}

export type Ending = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP"

/** Signals the process and everything it started. False if none of them was left. */
export const signalGroup = (leader: ProcessMark, signal: Ending): boolean => {
  const now = markOf(leader.pid)
  // Another process has the number now, so the old group is empty: the number of a group with members is not reused.
  if (now !== undefined && !sameProcess(now, leader)) return false
  return signalProcess(-leader.pid, signal)
}

export const signalProcess = (pid: number, signal: Ending): boolean => {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/**
 * Processes whose environment has this entry: those a worker started in the instant before it could record them.
 * Linux only; elsewhere the list is empty.
 */
export const processesWith = (name: string, value: string): readonly number[] => {
  const entry = `${name}=${value}`
  return pids().filter((pid) => pid !== process.pid && environmentOf(pid).includes(entry))
}

/** Processor time that each of these processes has used, in milliseconds. Linux only. */
export const processorTimes = (of: readonly number[]): ReadonlyMap<number, number> =>
  new Map(
    of.flatMap((pid) => {
      const fields = statOf(pid)
      return fields === undefined ? [] : [[pid, (Number(fields[11]) + Number(fields[12])) * TICK_MS] as const]
    }),
  )

/** Wherever Linux exposes USER_HZ to programs, it is 100. */
const TICK_MS = 10

const pids = (): readonly number[] => {
  try {
    return readdirSync("/proc").flatMap((name) => (/^[0-9]+$/.test(name) ? [Number(name)] : []))
  } catch {
    return []
  }
}

const environmentOf = (pid: number): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
  } catch {
    return []
  }
}

const startedOnLinux = (pid: number): string | undefined => {
  const fields = statOf(pid)
  return fields?.[0] === "Z" || fields?.[0] === "X" ? undefined : fields?.[19]
}

/**
 * Fields of /proc/PID/stat after the command, which may itself contain spaces and brackets. Numbered as in proc(5),
 * the first is 3 (state); the group is 5, times are 14 and 15, the start time is 22.
 */
const statOf = (pid: number): readonly string[] | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  } catch {
    return undefined
  }
}

const startedByPs = (pid: number): string | undefined => {
  try {
    const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim()
    const [state = "", ...started] = line.split(/\s+/)
    return line === "" || state.startsWith("Z") ? undefined : started.join(" ")
  } catch {
    return undefined
  }
}
