/** All of stdin as text, up to a bound no prompt reaches. */
import { readSync } from "node:fs"

import { Failure, systemCode } from "@meridian/protocol"

const MOST_BYTES = 16_777_216

export const readStdin = (): string => {
  const pieces: Buffer[] = []
  let bytes = 0
  for (;;) {
    const piece = Buffer.alloc(65_536)
    const count = readPiece(piece)
    if (count === 0) return Buffer.concat(pieces).toString("utf8")
    bytes += count
    if (bytes > MOST_BYTES)
      throw new Failure("USAGE", {
        problem: `stdin has more than ${MOST_BYTES} bytes.`,
        next: "name files for the agent to read instead (-f).",
      })
    pieces.push(piece.subarray(0, count))
  }
}

const readPiece = (piece: Buffer): number => {
  for (;;)
    try {
      return readSync(0, piece)
    } catch (error) {
      const code = systemCode(error)
      if (code === "EOF") return 0
      // Another program made the pipe non-blocking and has not written yet.
      if (code !== "EAGAIN") throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
}
