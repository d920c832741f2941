/** A reader of server-sent events that sees every byte, also what a client library would hide. */
export interface RawFrame {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly comment?: string
  readonly retry?: string
}

export interface SseReader extends AsyncDisposable {
  readonly response: Response
  /** The next frame; undefined when the stream has ended. */
  readonly next: () => Promise<RawFrame | undefined>
  /** Frames up to and including the first that fits. */
  readonly until: (fits: (frame: RawFrame) => boolean) => Promise<readonly RawFrame[]>
}

export const openSse = async (url: string, headers: Readonly<Record<string, string>>): Promise<SseReader> => {
  const controller = new AbortController()
  const response = await fetch(url, { headers, signal: controller.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  const next = async (): Promise<RawFrame | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n")
      if (end !== -1) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        return parse(block)
      }
      const piece = await reader?.read()
      if (piece === undefined || piece.done) return undefined
      text += piece.value
    }
  }
  return {
    response,
    next,
    until: async (fits) => {
      const frames: RawFrame[] = []
      for (;;) {
        const frame = await next()
        if (frame === undefined) throw new Error(`the stream ended after ${JSON.stringify(frames)}`)
        frames.push(frame)
        if (fits(frame)) return frames
      }
    },
    [Symbol.asyncDispose]: async () => {
      controller.abort()
      await reader?.cancel().catch(() => undefined)
    },
  }
}

const parse = (block: string): RawFrame =>
  Object.fromEntries(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":")
      return [colon === 0 ? "comment" : line.slice(0, colon), line.slice(colon + 1).trimStart()]
    }),
  )
