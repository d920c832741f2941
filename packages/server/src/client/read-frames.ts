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
  let text = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      alive()
      text += decoder.decode(value, { stream: true })
      const whole = text.lastIndexOf("\n\n")
      if (whole === -1) continue
      const blocks = text.slice(0, whole).split("\n\n")
      text = text.slice(whole + 2)
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
