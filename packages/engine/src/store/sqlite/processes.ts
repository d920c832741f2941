/**
 * Processes of this machine: our own identity in a form that other processes can check, and whether another process is
 * gone.
 */
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

import { systemCode } from "@meridian/protocol"

export interface ProcessIdentity {
  readonly pid: number
  /** Its start time, as the system states it. A pid may be reused. */
  readonly started: string
  /** The boot of its machine. A process of another boot is never judged by pid. */
  readonly boot: string
}

export interface Processes {
  readonly me: ProcessIdentity
  /** The process with this identity is certainly gone. */
  readonly isGone: (identity: ProcessIdentity) => boolean
}

export const realProcesses = (): Processes => {
  const me = identify(process.pid)
  return { me, isGone: (identity) => identity.boot === me.boot && isGone(identity) }
}

const identify = (pid: number): ProcessIdentity => ({
  pid,
  started: processStat(pid)?.started ?? "",
  boot: [readText("/proc/sys/kernel/random/boot_id"), readLink("/proc/self/ns/pid"), hostname()].join(" "),
})

const isGone = ({ pid, started }: ProcessIdentity): boolean => {
  if (started !== "") {
    const stat = processStat(pid)
    return stat === undefined || stat.started !== started || stat.state === "Z" || stat.state === "X"
  }
  try {
    process.kill(pid, 0)
    return false
  } catch (cause) {
    return systemCode(cause) === "ESRCH"
  }
}

/** State and start time of a process; undefined when there is none. */
const processStat = (pid: number): { readonly state: string; readonly started: string } | undefined => {
  const text = readText(`/proc/${pid}/stat`)
  if (text === "") return undefined
  // The command name may contain anything; the fields after its last parenthesis may not.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return { state: fields[0] ?? "", started: fields[19] ?? "" }
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, "latin1").trim()
  } catch {
    return ""
  }
}

const readLink = (file: string): string => {
  try {
    return readlinkSync(file)
  } catch {
    return ""
  }
}
