import { createServer, type RequestListener } from "node:http"
import { createServer as createPlainServer, type AddressInfo, type Server } from "node:net"

import { expect, onTestFinished, test } from "vitest"

import { postJson, type Sent } from "./post-json.ts"

test("an answer that says how much was left out is reported, as plain text", async () => {
  const sent = await answered((_request, response) =>
    response.end(
      JSON.stringify({ partialSuccess: { rejectedSpans: "3", errorMessage: "over \u001b[31mquota" } }),
    ),
  )
  expect(sent).toEqual({
    tag: "taken",
    without: expect.stringMatching(/^the collector left out 3 of what it was sent: over \P{Cc}*quota$/u),
  })
})

test.each<[string, RequestListener]>([
  ["is no JSON", (_request, response) => response.end("<html>")],
  ["leaves nothing out", (_request, response) => response.end('{"partialSuccess":{"rejectedSpans":"0"}}')],
  [
    "breaks off",
    (_request, response) => {
      response.writeHead(200, { "content-length": "1000" })
      response.write("{", () => response.destroy())
    },
  ],
  [
    "never ends",
    (_request, response) => {
      const write = (): void => void response.write("x".repeat(100_000), () => setImmediate(write))
      write()
    },
  ],
])("what was accepted stays accepted when the answer %s", async (_how, listener) => {
  expect(await answered(listener)).toEqual({ tag: "taken" })
})

test("a connection that fails says why, and rubbish is no answer", async () => {
  const closed = await listen(createServer())
  await new Promise((done) => closed.server.close(done))
  expect(await post(closed.port)).toEqual({ tag: "later", why: expect.stringContaining("ECONNREFUSED") })
  const rubbish = await listen(createPlainServer((socket) => socket.end("SSH-2.0\r\n\u0001\r\n\r\n")))
  expect(await post(rubbish.port)).toEqual({ tag: "later", why: expect.stringMatching(/^\P{Cc}{5,200}$/u) })
})

const answered = async (listener: RequestListener): Promise<Sent> =>
  post((await listen(createServer(listener))).port)

const post = (port: number): Promise<Sent> =>
  postJson(
    { url: `http://127.0.0.1:${port}/v1/traces`, headers: {} },
    {},
    { timeoutMs: 20_000, signal: new AbortController().signal },
  )

const listen = async <Kind extends Server>(
  server: Kind,
): Promise<{ readonly server: Kind; readonly port: number }> => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  onTestFinished(() => void server.close())
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server on a port has such an address
  return { server, port: (server.address() as AddressInfo).port }
}
