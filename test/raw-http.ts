/** Sends bytes to a port and returns the bytes that come back, for requests no client library would send. */
import { connect } from "node:net"

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Resolves when the server ends the connection. The `pieces` are written in order, as fast as possible. */
export const sendRaw = (port: number, pieces: Iterable<string | Buffer>): Promise<RawAnswer> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.setEncoding("latin1")
    socket.on("data", (piece: string) => (text += piece))
    // A server that has answered may reset the connection. Its answer counts.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      const [head = "", body = ""] = text.split("\r\n\r\n")
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body })
    })
    for (const piece of pieces) socket.write(piece)
  })

export const rawRequest = (line: string, headers: readonly string[], body = ""): readonly [string] => [
  `${line} HTTP/1.1\r\n${[...headers, "Connection: close"].join("\r\n")}\r\n\r\n${body}`,
]
