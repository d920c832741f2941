/** Bytes -> frames of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface Frame {
  readonly id: string | undefined
  /** "message" when the frame has no name. */
  readonly name: string
  readonly data: string
}

/** A frame that was cut off by the end of the connection is no frame. `alive` is called for every piece. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  alive: () => void,
): AsyncGenerator<Frame, void, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // Pieces of a frame whose end has not come: looked through once each, however long the frame is.
  let begun: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      alive()
      const piece = decoder.decode(value, { stream: true })
      const isEnd =
        piece.includes("\n\n") || (piece.startsWith("\n") && begun.at(-1)?.endsWith("\n") === true)
      if (piece !== "") begun.push(piece)
      if (!isEnd) continue
      const text = begun.join("")
      const whole = text.lastIndexOf("\n\n")
      const blocks = text.slice(0, whole).split("\n\n")
      const rest = text.slice(whole + 2)
      begun = rest === "" ? [] : [rest]
      for (const block of blocks) {
        const frame = parseFrame(block)
        if (frame !== undefined) yield frame
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const parseFrame = (block: string): Frame | undefined => {
  let id: string | undefined
  let name = "message"
  const data: string[] = []
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (field === "id") id = value
    else if (field === "event") name = value
    else if (field === "data") data.push(value)
  }
  return data.length === 0 ? undefined : { id, name, data: data.join("\n") }
}
