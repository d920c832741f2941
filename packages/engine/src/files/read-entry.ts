/** What git keeps of a file: its mode and its content. Never follows a link and never waits for a pipe. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from "node:fs"

import { FilesProblem } from "../port/file-trees.ts"

export interface ReadEntry {
  readonly mode: string
  readonly content: Buffer
  /** When the file last changed, in any way. */
  readonly changedMs: number
}

/** Undefined: there is no such file. Throws FilesProblem. */
export const readEntry = (file: string): ReadEntry | undefined => {
  const stat = statOf(file)
  let opened: number | undefined
  try {
    if (stat?.isSymbolicLink() === true) {
      const content = readlinkSync(file, { encoding: "buffer" })
      return { mode: "120000", content, changedMs: stat.ctimeMs }
    }
    if (stat?.isFile() !== true) return undefined
    opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const mode = (fstatSync(opened).mode & 0o100) === 0 ? "100644" : "100755"
    return { mode, content: readFileSync(opened), changedMs: stat.ctimeMs }
  } catch (cause) {
    throw new FilesProblem(`${file} cannot be read`, { cause })
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

/** Undefined also when one of its folders is now a file. */
export const statOf = (file: string): Stats | undefined => {
  try {
    return lstatSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
