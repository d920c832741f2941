/**
 * Identifies a process. A pid alone is reused; with its start time it names one process for as long as the machine is
 * up. `started` is text of the platform (clock ticks since boot on Linux) and is only ever compared.
 */
import { number, text, type Fields } from "./json-line.ts"

export interface ProcessMark {
  readonly pid: number
  readonly started: string
}

export const sameProcess = (left: ProcessMark, right: ProcessMark): boolean =>
  left.pid === right.pid && left.started === right.started

export const readMark = (fields: Fields, prefix: string): ProcessMark | undefined =>
  asMark(number(fields, `${prefix}_pid`), text(fields, `${prefix}_started`))

/** Undefined if a part is missing, and for pids that must never be signalled. */
export const asMark = (pid: number | undefined, started: string | undefined): ProcessMark | undefined =>
  pid === undefined || pid < 2 || started === undefined || started === "" ? undefined : { pid, started }

export const writeMark = (prefix: string, mark: ProcessMark | undefined): Record<string, string | number> =>
  mark === undefined ? {} : { [`${prefix}_pid`]: mark.pid, [`${prefix}_started`]: mark.started }
