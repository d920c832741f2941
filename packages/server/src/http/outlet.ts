/**
 * One response, written in pieces. The next piece goes to the connection when the reader has taken the last one. So a
 * reader that takes nothing can be told from one that takes a large answer slowly.
 */
import type { ServerResponse } from "node:http"

import type { DropReason, Outgoing, Waiting } from "./outgoing.ts"

export interface Outlet {
  readonly put: (content: string | Uint8Array) => void
  /** Ends the response once everything before it is sent. */
  readonly end: (content?: string | Uint8Array) => void
  /** Undefined when nothing waits; otherwise resolves when the reader has taken everything, or is gone. */
  readonly taken: () => Promise<void> | undefined
}

/** Larger content is split. */
const PIECE_BYTES = 256 * 1024

export const makeOutlet = (options: {
  readonly response: ServerResponse
  readonly outgoing: Outgoing
  readonly drop: (why: DropReason) => void
}): Outlet => {
  const { response, outgoing, drop } = options
  const pieces: (string | Uint8Array)[] = []
  let queued = 0
  let isEnding = false
  let full: { readonly taken: Promise<void>; readonly release: () => void } | undefined
  const reader: Waiting = {
    socket: response.socket,
    bytes: () => queued + response.writableLength,
    drop,
  }

  const release = (): void => {
    outgoing.done(reader)
    full?.release()
    full = undefined
  }

  /** Writes until the connection is full or nothing is left. Corked, so that a chunk and its frame become one write. */
  const pump = (): void => {
    const { socket } = response
    socket?.cork()
    writePieces()
    socket?.uncork()
  }

  const writePieces = (): void => {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      queued -= piece.length
      if (response.write(piece)) continue
      if (full === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>()
        full = { taken: promise, release: resolve }
      }
      outgoing.wait(reader)
      return
    }
    release()
    if (isEnding) response.end()
  }

  const add = (content: string | Uint8Array): void => {
    if (content.length <= PIECE_BYTES) pieces.push(content)
    else {
      const bytes = typeof content === "string" ? Buffer.from(content) : content
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES))
    }
    queued = pieces.reduce((sum, piece) => sum + piece.length, 0)
  }

  response.on("drain", pump)
  response.once("finish", release)
  response.once("close", () => {
    pieces.length = 0
    queued = 0
    release()
  })

  const put = (content: string | Uint8Array): void => {
    add(content)
    if (full === undefined) pump()
  }

  return {
    put,
    end: (content) => {
      isEnding = true
      if (content !== undefined) add(content)
      if (full === undefined) pump()
    },
    taken: () => full?.taken,
  }
}
