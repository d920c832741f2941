/**
 * Synchronous writing: nothing is lost if the process ends right after, and a line of text needs no stream. A reader
 * that went away (`| head -1`) is not an error of ours.
 *
 * A text may contain words of models, files or other people. A terminal gets them without anything it would obey; a
 * file or a pipe gets them word for word.
 */
import { fstatSync, writeSync } from "node:fs"

import { plainJson, plainText, systemCode } from "@meridian/protocol"

export interface Output {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** To stderr unchanged, for our own terminal sequences. Text of others must already be plain. */
  readonly draw: (text: string) => void
  /** A line of JSON for stdout. On a terminal its escapes are spelt out, so that it stays the same JSON. */
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

/** Any device counts: asking whether it is a terminal would load node:tty, and plain text does no device harm. */
const isTerminal = (descriptor: number): boolean => {
  try {
    return fstatSync(descriptor).isCharacterDevice()
  } catch {
    // The descriptor is closed, so nothing will be written there anyway.
    return false
  }
}

/** False if the reader is gone. */
const writeAll = (descriptor: number, bytes: Buffer): boolean => {
  let written = 0
  while (written < bytes.length)
    try {
      written += writeSync(descriptor, bytes, written)
    } catch (error) {
      const code = systemCode(error)
      // Another program made the pipe non-blocking: wait for the slower reader.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
      else if (code === "EPIPE" || code === "EIO" || code === "EBADF" || code === "ENOSPC") return false
      else throw error
    }
  return true
}
