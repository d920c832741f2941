/** Reads one stream of server-sent events to its end; a connection that has gone silent is given up. */
import { createFrameReader, type Frame } from "../domain/event-stream.ts"
import { readFailure, type Connection } from "./api.ts"

/** The server's heartbeat comes more often than this; a connection without it is dead. */
const SILENCE_MS = 60_000

export const readFrames = async (
  connection: Connection,
  request: {
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    readonly signal: AbortSignal
  },
  take: (frames: readonly Frame[]) => void,
): Promise<void> => {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const response = await connection.fetch(request.path, {
      headers: {
        accept: "text/event-stream",
        authorization: `Bearer ${connection.token}`,
        ...request.headers,
      },
      signal: AbortSignal.any([request.signal, silence.signal]),
    })
    if (!response.ok || response.body === null) throw await readFailure(response)
    const reader = createFrameReader()
    const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await pieces.read()
      if (done) return
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      take(reader.push(value))
    }
  } finally {
    clearTimeout(timer)
  }
}
