/**
 * Reads server-sent events from pieces of text that may be cut anywhere
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 */
export interface Frame {
  /** Only frames with an id move a cursor. */
  readonly id: string | undefined
  /** "message" for a frame without a name. */
  readonly name: string
  readonly data: string
}

export interface FrameReader {
  /** Returns the frames that this piece completes. Throws a RangeError when a frame does not end. */
  readonly push: (piece: string) => readonly Frame[]
}

/** Our frames are far smaller. A larger one is not ours. */
const MOST_FRAME_CHARACTERS = 64 * 1024 * 1024

export const createFrameReader = (most = MOST_FRAME_CHARACTERS): FrameReader => {
  // Pieces of an unfinished line. Each is scanned only once, however long the line gets.
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

/** The frames of a body, in batches as they arrive. A frame cut off by the end of the connection is dropped. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  /** Called for every piece, even one that completes no frame. */
  alive: () => void,
): AsyncGenerator<readonly Frame[], void, void> {
  const pieces = body.getReader()
  const decoder = new TextDecoder()
  const reader = createFrameReader()
  try {
    for (;;) {
      const { done, value } = await pieces.read()
      if (done) return
      alive()
      const frames = reader.push(decoder.decode(value, { stream: true }))
      if (frames.length > 0) yield frames
    }
  } finally {
    await pieces.cancel().catch(() => undefined)
  }
}

const readFrame = (lines: readonly string[]): Frame | undefined => {
  const data: string[] = []
  let name = "message"
  let id: string | undefined
  for (const line of lines) {
    const colon = line.indexOf(":")
    if (colon === 0) continue
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (field === "data") data.push(value)
    if (field === "event") name = value
    if (field === "id") id = value
  }
  return data.length === 0 ? undefined : { id, name, data: data.join("\n") }
}
