/**
 * Server-sent events from pieces of text that break anywhere
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 */
export interface Frame {
  /** Only frames that have an id move a cursor. */
  readonly id: string | undefined
  /** "message" when the frame has no name. */
  readonly name: string
  readonly data: string
}

export interface FrameReader {
  /** The frames that this piece completed. Throws a RangeError when a frame has no end. */
  readonly push: (piece: string) => readonly Frame[]
}

/** No frame of ours comes near it: one that grows beyond is not ours. */
const MOST_FRAME_CHARACTERS = 64 * 1024 * 1024

export const createFrameReader = (most = MOST_FRAME_CHARACTERS): FrameReader => {
  // Pieces of a line whose end has not come: each is looked through once, however long the line is.
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

/** The frames of a body, as many at a time as came together. One cut off by the end of the connection is none. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  /** Called for every piece, also for one that completes no frame. */
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
