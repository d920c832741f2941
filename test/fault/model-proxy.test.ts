/** Models behind a proxy that the environment names (NODE_USE_ENV_PROXY). */
import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"

import { expect, test } from "vitest"

const ENTRY = join(import.meta.dirname, "model-proxy.entry.ts")

/** A proxy that answers this way, and what the program prints when it asks a model through it. */
const askThrough = async (answer: RequestListener): Promise<string> => {
  const proxy = createServer(answer).listen(0, "127.0.0.1")
  await once(proxy, "listening")
  const address = proxy.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=meridian-source", ENTRY, "http://model.example:8123/v1/chat"],
      { env: { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: `http://me:secret@127.0.0.1:${port}` } },
    )
    return stdout
  } finally {
    proxy.close()
  }
}

test("a request through a proxy carries the proxy's credentials and the model's address", async () => {
  const said = await askThrough((request, response) => {
    request.resume()
    const { host, "proxy-authorization": credentials } = request.headers
    response.end(`${request.url ?? ""} ${host ?? ""} ${credentials ?? ""}`)
  })
  const credentials = `Basic ${Buffer.from("me:secret").toString("base64")}`
  expect(said).toBe(`http://model.example:8123/v1/chat model.example:8123 ${credentials}`)
})

test("a proxy that wants other credentials is one that refuses them, not a broken connection", async () => {
  const said = await askThrough((request, response) => {
    request.resume()
    response.writeHead(407).end()
  })
  expect(said).toMatch(/^authentication: The proxy: .*407/)
})
