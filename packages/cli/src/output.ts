/**
 * Writing that is done when it returns: nothing is lost when the process ends right after, and no stream has to be opened
 * for a line of text. A reader that went away (`| head -1`) is not an error of ours.
 *
 * Whatever models, files or other people wrote may be part of a text. A terminal is shown it without anything it would
 * obey; a file or a pipe gets it word for word.
 */
import { fstatSync, writeSync } from "node:fs"

import { plainJson, plainText, systemCode } from "@meridian/protocol"

export interface Output {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** To stderr as it is: for sequences of our own that a terminal is meant to obey. What others wrote is made plain before. */
  readonly draw: (text: string) => void
  /** A line of JSON for stdout: on a terminal its escapes are spelt out, so that it stays the same JSON. */
  readonly json: (line: string) => void
}

export const processOutput = (): Output => {
  const writer = (descriptor: 1 | 2, plain: (text: string) => string): ((text: string) => void) => {
    let gone = false
    return (text) => {
      if (gone || text === "") return
      gone = !writeAll(descriptor, Buffer.from(isTerminal(descriptor) ? plain(text) : text))
    }
  }
  return {
    stdout: writer(1, plainText),
    stderr: writer(2, plainText),
    draw: writer(2, (text) => text),
    json: writer(1, plainJson),
  }
}

/** Any device: asking whether it is a terminal would load node:tty, and plain text does no device harm. */
const isTerminal = (descriptor: number): boolean => {
  try {
    return fstatSync(descriptor).isCharacterDevice()
  } catch {
    // Closed: nothing will be written there anyway.
    return false
  }
}

/** False when nobody reads any more. */
const writeAll = (descriptor: number, bytes: Buffer): boolean => {
  let written = 0
  while (written < bytes.length)
    try {
      written += writeSync(descriptor, bytes, written)
    } catch (error) {
      const code = systemCode(error)
      // A pipe that another program made non-blocking: wait for the reader, it is slower than we are.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
      else if (code === "EPIPE" || code === "EIO" || code === "EBADF" || code === "ENOSPC") return false
      else throw error
    }
  return true
}
