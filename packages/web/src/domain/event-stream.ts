/**
 * Server-sent events, read from pieces of text that break anywhere
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 */
export interface Frame {
  /** Only frames that have an id move the cursor. */
  readonly id?: string
  readonly event: string
  readonly data: string
}

/** No frame of ours comes near it: one that grows beyond is not ours. */
export const MOST_FRAME_CHARACTERS = 64 * 1024 * 1024

export interface FrameReader {
  /** The frames that piece completed. Throws a RangeError when a frame has no end. */
  readonly push: (piece: string) => readonly Frame[]
}

export const createFrameReader = (most = MOST_FRAME_CHARACTERS): FrameReader => {
  // Pieces of a line whose end has not come: looked through once each, however long the line is.
  let begun: string[] = []
  let lines: string[] = []
  let size = 0
  return {
    push: (piece) => {
      const frames: Frame[] = []
      begun.push(piece)
      size += piece.length
      if (size > most) throw new RangeError("a frame of the event stream has no end")
      if (!piece.includes("\n")) return frames
      const parts = begun.join("").split("\n")
      const rest = parts.pop() ?? ""
      begun = [rest]
      for (const part of parts) {
        const line = part.endsWith("\r") ? part.slice(0, -1) : part
        if (line === "") {
          const frame = readFrame(lines)
          if (frame !== undefined) frames.push(frame)
          lines = []
        } else lines.push(line)
      }
      size = lines.reduce((sum, line) => sum + line.length, rest.length)
      return frames
    },
  }
}

const readFrame = (lines: readonly string[]): Frame | undefined => {
  const data: string[] = []
  let event = "message"
  let id: string | undefined
  for (const line of lines) {
    const colon = line.indexOf(":")
    if (colon === 0) continue
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (field === "data") data.push(value)
    if (field === "event") event = value
    if (field === "id") id = value
  }
  if (data.length === 0) return undefined
  return { event, data: data.join("\n"), ...(id === undefined ? {} : { id }) }
}
