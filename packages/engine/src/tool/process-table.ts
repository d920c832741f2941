/**
 * Which processes belong to a tool call. Every process of a tool carries marks in its environment, which children inherit
 * even when they leave their group or session. Linux shows them in /proc. Elsewhere only the process group is known, and
 * these functions find nothing.
 */
import { readdir, readFile } from "node:fs/promises"

export interface ProcessRow {
  readonly pid: number
  readonly group: number
  /** A dead process that nobody has reaped; only its table row is left. */
  readonly zombie: boolean
}

const PARALLEL = 32

/** Processes whose environment satisfies `belongs`. Those of other users are invisible. Never throws. */
export const findProcesses = async (
  belongs: (row: ProcessRow, environment: () => Promise<ReadonlySet<string>>) => Promise<boolean>,
): Promise<readonly ProcessRow[]> => {
  const names = await readdir("/proc").catch(() => [])
  const pids = names.flatMap((name) => (/^[0-9]+$/.test(name) ? [Number(name)] : []))
  const found: ProcessRow[] = []
  for (let index = 0; index < pids.length; index += PARALLEL) {
    const group = await Promise.all(
      pids.slice(index, index + PARALLEL).map(async (pid) => {
        const row = await readRow(pid)
        if (row === undefined || row.zombie || pid === process.pid) return undefined
        return (await belongs(row, () => readEnvironment(pid))) ? row : undefined
      }),
    )
    for (const row of group) if (row !== undefined) found.push(row)
  }
  return found
}

/** Ignores a process that is gone or not ours. */
export const sendSignal = (target: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(target, signal)
  } catch {
    // Already gone, as intended.
  }
}

export const groupExists = (group: number): boolean => {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}

const readRow = async (pid: number): Promise<ProcessRow | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined)
  // The name is in parentheses and may contain anything, even parentheses.
  const [state, , group] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? []
  if (state === undefined || group === undefined) return undefined
  return { pid, group: Number(group), zombie: state === "Z" || state === "X" }
}

const readEnvironment = async (pid: number): Promise<ReadonlySet<string>> => {
  const text = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")
  return new Set(text.split("\0"))
}
