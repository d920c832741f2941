/**
 * Which processes hold a lock: those that have its file open. A lock belongs to the open file, so a harness that
 * inherited it holds it after we are gone.
 */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs"
import { basename } from "node:path"

export interface LockHolder {
  readonly pid: number
  /** The name of its program, if known. */
  readonly name: string
}

/** The process that started the others comes first. Empty if none can be found. */
export const lockHolders = (path: string): readonly LockHolder[] => {
  const pids = (process.platform === "linux" ? holdersOnLinux(path) : holdersByLsof(path)).filter(
    (pid) => pid !== process.pid,
  )
  const isChild = (pid: number): boolean => pids.includes(parentOf(pid))
  return [...pids.filter((pid) => !isChild(pid)), ...pids.filter(isChild)].map((pid) => ({
    pid,
    name: nameOf(pid),
  }))
}

const holdersOnLinux = (path: string): readonly number[] => {
  const file = orUndefined(() => realpathSync(path))
  const pids = orUndefined(() => readdirSync("/proc"))?.flatMap((name) =>
    /^\d+$/.test(name) ? [Number(name)] : [],
  )
  if (file === undefined || pids === undefined) return []
  return pids.filter((pid) => {
    const folder = `/proc/${pid}/fd`
    // We may not look at processes of other users, and they cannot hold it.
    const open = orUndefined(() => readdirSync(folder)) ?? []
    return open.some((descriptor) => orUndefined(() => readlinkSync(`${folder}/${descriptor}`)) === file)
  })
}

const holdersByLsof = (path: string): readonly number[] => {
  const told = orUndefined(() =>
    execFileSync("lsof", ["-t", "--", path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  )
  return (told ?? "").split("\n").flatMap((line) => (/^\d+$/.test(line) ? [Number(line)] : []))
}

const parentOf = (pid: number): number => {
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, "latin1"))
  if (stat !== undefined) return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  return Number(
    orUndefined(() => execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" })),
  )
}

/** An interpreter's name says little: its script is the program. */
const nameOf = (pid: number): string => {
  const words = orUndefined(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0"))
  const line =
    words ??
    (
      orUndefined(() => execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" })) ?? ""
    ).split(" ")
  const [program = "", script = ""] = line
  const own = basename(program.trim())
  return INTERPRETERS.test(own) && script !== "" && !script.startsWith("-") ? basename(script) : own
}

const INTERPRETERS = /^(node|bun|deno|python[\d.]*|sh|bash|perl|ruby)$/

const orUndefined = <T>(act: () => T): T | undefined => {
  try {
    return act()
  } catch {
    // The process is gone by now, or we may not look at it.
    return undefined
  }
}
