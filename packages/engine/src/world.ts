/** The real world: this machine's clock, chance and processes. */
import { randomFillSync } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

import type { ProcessIdentity, World } from "./port/world.ts"

export const realWorld = (): World => {
  const mine = identify(process.pid)
  const chanceOf = createChance()
  let last = 0
  let counter = 0
  return {
    now: () => Date.now(), // oxlint-disable-line eslint/no-restricted-properties -- the one clock of the engine
    monotonic: () => performance.now(),
    chance: () => Math.random(), // oxlint-disable-line eslint/no-restricted-properties -- the one dice of the engine
    // Ids sort by creation within a process: milliseconds, a counter, then chance.
    id: (prefix) => {
      const now = Date.now() // oxlint-disable-line eslint/no-restricted-properties -- as above
      counter = now === last ? counter + 1 : 0
      last = now
      const time = (now * 4096 + (counter % 4096)).toString(16).padStart(14, "0")
      return `${prefix}${time}${chanceOf(ID_BYTES)}`
    },
    every: (ms, tick) => {
      const timer = setInterval(tick, ms) // oxlint-disable-line eslint/no-restricted-globals -- the one timer of the engine
      timer.unref()
      return () => clearInterval(timer)
    },
    identity: () => mine,
    isGone: (identity) => identity.boot === mine.boot && isGone(identity),
  }
}

const ID_BYTES = 9

/** Hexadecimal chance from a pool: asking the system for nine bytes costs more than the rest of an id. */
const createChance = () => {
  const pool = Buffer.alloc(ID_BYTES * 256)
  let used = pool.length
  return (bytes: number): string => {
    if (used + bytes > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += bytes
    return pool.toString("hex", used - bytes, used)
  }
}

/** State and start time of a process, or undefined when there is none. */
const processStat = (pid: number): { readonly state: string; readonly started: string } | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The command name may contain anything; the fields behind its last parenthesis do not.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return { state: fields[0] ?? "", started: fields[19] ?? "" }
  } catch {
    return undefined
  }
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
    return cause instanceof Error && "code" in cause && cause.code === "ESRCH"
  }
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, "utf8").trim()
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
