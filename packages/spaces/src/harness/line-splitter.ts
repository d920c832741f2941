/**
 * Splits bytes into lines with a bound: a line of any length costs at most `limit` bytes here. Chunks may split UTF-8
 * anywhere. Only the beginning of a line over the bound is returned.
 */
import { isUtf8 } from "node:buffer"

export type Line =
  /** `isMangled`: some of its bytes are not UTF-8, and U+FFFD replaces them. */
  | { readonly kind: "whole"; readonly text: string; readonly isMangled?: true }
  | { readonly kind: "cut"; readonly start: string; readonly bytes: number }

export interface LineSplitter {
  readonly feed: (chunk: Uint8Array) => readonly Line[]
  /** The last line, if the stream ended without a newline. */
  readonly end: () => readonly Line[]
}

export const lineSplitter = (bounds: {
  readonly lineBytes: number
  readonly cutBytes: number
}): LineSplitter => {
  const decoder = new TextDecoder()
  let held: Uint8Array[] = []
  let heldBytes = 0
  let lineBytes = 0

  const hold = (piece: Uint8Array): void => {
    lineBytes += piece.byteLength
    const isCut = lineBytes > bounds.lineBytes
    if (isCut && heldBytes > bounds.cutBytes) {
      held = [join(held, heldBytes).slice(0, bounds.cutBytes)]
      heldBytes = bounds.cutBytes
    }
    // A copy: the runtime may reuse the memory of a chunk.
    const kept = isCut ? piece.slice(0, Math.max(0, bounds.cutBytes - heldBytes)) : piece.slice()
    if (kept.byteLength === 0) return
    held.push(kept)
    heldBytes += kept.byteLength
  }

  const take = (): Line => {
    const bytes = join(held, heldBytes)
    const text = decoder.decode(bytes)
    const mangled = text.includes("\uFFFD") && !isUtf8(bytes) ? { isMangled: true as const } : {}
    const line: Line =
      lineBytes <= bounds.lineBytes
        ? { kind: "whole", text: text.endsWith("\r") ? text.slice(0, -1) : text, ...mangled }
        : { kind: "cut", start: text.slice(0, bounds.cutBytes), bytes: lineBytes }
    held = []
    heldBytes = 0
    lineBytes = 0
    return line
  }

  return {
    feed: (chunk) => {
      const lines: Line[] = []
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        hold(chunk.subarray(from, at))
        lines.push(take())
        from = at + 1
      }
      if (from < chunk.byteLength) hold(chunk.subarray(from))
      return lines
    },
    end: () => (lineBytes === 0 ? [] : [take()]),
  }
}

const NEWLINE = 0x0a

const join = (pieces: readonly Uint8Array[], bytes: number): Uint8Array => {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}
