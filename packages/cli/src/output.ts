/**
 * Writing that is done when it returns: nothing is lost when the process ends right after, and no stream has to be opened
 * for a line of text. A reader that went away (`| head -1`) is not an error of ours.
 */
import { writeSync } from "node:fs"

export interface Output {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
}

export const processOutput = (): Output => {
  const writer = (descriptor: 1 | 2): ((text: string) => void) => {
    let gone = false
    return (text) => {
      if (!gone && text !== "") gone = !writeAll(descriptor, Buffer.from(text))
    }
  }
  return { stdout: writer(1), stderr: writer(2) }
}

/** False when nobody reads any more. */
const writeAll = (descriptor: number, bytes: Buffer): boolean => {
  let written = 0
  while (written < bytes.length)
    try {
      written += writeSync(descriptor, bytes, written)
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined
      // A pipe that another program made non-blocking: wait for the reader, it is slower than we are.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
      else if (code === "EPIPE" || code === "EIO" || code === "EBADF" || code === "ENOSPC") return false
      else throw error
    }
  return true
}
