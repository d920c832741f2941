import { once } from "node:events"
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http"
import { createRequire } from "node:module"
import { createServer as createSilentServer, type Socket } from "node:net"
import { setTimeout as wait } from "node:timers/promises"

import { afterEach, expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { openHttp } from "./http-fetch.ts"

/** undici's internal clock, which drives its limits. */
// eslint-disable-next-line typescript/no-unsafe-type-assertion -- a file of undici's without types
const { tick } = createRequire(import.meta.url)("undici/lib/util/timers.js") as {
  readonly tick: (ms: number) => void
}

const passHour = (): void => {
  // A limit starts with the first tick after it was set.
  tick(0)
  tick(3_600_000)
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  servers.push(server)
  await once(server, "listening")
  const address = server.address()
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/v1` : ""
}

const http = openHttp()
const fetch = http()

const readAll = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
}

test("sends method, headers and body, and gives status, headers and body back", async () => {
  const url = await serve((request, response) => {
    response.writeHead(201, {
      "x-seen": `${request.method} ${String(request.headers["x-mine"])}`,
      "set-cookie": ["a=1", "b=2"],
    })
    request.pipe(response)
  })
  const response = await fetch(url, { method: "POST", headers: { "X-Mine": "yes" }, body: "grüße" })
  expect([response.ok, response.status, response.headers.get("x-seen")]).toEqual([true, 201, "POST yes"])
  expect(await readAll(response)).toBe("grüße")
})

test("says where and how much, unless the caller has said where; header names ignore case", async () => {
  const url = await serve((request, response) => response.end(JSON.stringify(request.rawHeaders)))
  const { host } = new URL(url)
  const sent = async (address: string, headers: Record<string, string>, body?: string): Promise<string[]> => {
    const raw = await readAll(
      await fetch(address, { method: "POST", headers, ...(body === undefined ? {} : { body }) }),
    )
    // eslint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- written by the server above
    const list = JSON.parse(raw) as string[]
    return list.flatMap((name, index) =>
      index % 2 === 0 ? [`${name.toLowerCase()}: ${list[index + 1] ?? ""}`] : [],
    )
  }
  expect(await sent(url, { "Content-Type": "text/plain", "Content-Length": "7000" }, "grüße")).toEqual([
    `host: ${host}`,
    "connection: keep-alive",
    "content-type: text/plain",
    "content-length: 7",
  ])
  expect(await sent(url.replace("//", "//me:secret@"), { HOST: "elsewhere" }, "")).toEqual([
    "host: elsewhere",
    "connection: keep-alive",
    `authorization: Basic ${Buffer.from("me:secret").toString("base64")}`,
    "content-length: 0",
  ])
  expect(await sent(url, {})).toContain("content-length: 0")
  const twice = await sent(url, { authorization: "of the model", Authorization: "of its user" }, "")
  expect(twice.filter((line) => line.startsWith("authorization"))).toEqual(["authorization: of its user"])
  expect(await sent(url.replace("//", "//me:secret@"), { Authorization: "Bearer key" }, "")).toContain(
    "authorization: Bearer key",
  )
})

test("an error status is a response, not an exception", async () => {
  const url = await serve((_request, response) => response.writeHead(503).end("busy"))
  const response = await fetch(url)
  expect([response.ok, response.status, response.statusText]).toEqual([false, 503, "Service Unavailable"])
  expect(await readAll(response)).toBe("busy")
})

test("reading ends with an error when the server breaks off", async () => {
  const url = await serve((_request, response) => {
    response.write("half", () => response.destroy())
  })
  await expect(readAll(await fetch(url))).rejects.toMatchObject({ code: "ECONNRESET" })
})

test("a response that nobody reads may break without harm", async () => {
  const closed = Promise.withResolvers<void>()
  const url = await serve((_request, response) => {
    response.once("close", () => closed.resolve())
    response.write("half", () => response.destroy())
  })
  expect((await fetch(url)).status).toBe(200)
  await closed.promise
})

test("cancelling closes the connection and ends a read that waits", async () => {
  const closed = Promise.withResolvers<void>()
  const url = await serve((_request, response) => {
    response.once("close", () => closed.resolve())
    response.write("first")
  })
  const reader = (await fetch(url)).body?.getReader()
  await reader?.read()
  const waiting = reader?.read()
  await reader?.cancel()
  await expect(waiting).rejects.toMatchObject({ code: "ECONNRESET" })
  await closed.promise
})

test("a signal ends the request before and after the answer began", async () => {
  const url = await serve((request, response) => {
    if (request.url?.endsWith("begun") === true) response.write("first")
  })
  const early = new AbortController()
  const pending = fetch(url, { signal: early.signal })
  early.abort()
  await expect(pending).rejects.toMatchObject({ name: "AbortError" })
  const late = new AbortController()
  const reader = (await fetch(`${url}/begun`, { signal: late.signal })).body?.getReader()
  await reader?.read()
  const waiting = reader?.read()
  late.abort()
  await expect(waiting).rejects.toThrow(/abort/)
  await expect(fetch(url, { signal: late.signal })).rejects.toMatchObject({ name: "AbortError" })
})

test("an attempt to connect is abandoned when no request waits for it any more", async () => {
  const arrived = Promise.withResolvers<Socket>()
  // The server accepts the connection and never answers the handshake.
  const server = createSilentServer((socket) => arrived.resolve(socket)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const leaving = new AbortController()
  const pending = fetch(`https://127.0.0.1:${port}/v1`, { signal: leaving.signal })
  const socket = await arrived.promise
  const closed = once(socket.on("error", () => {}).resume(), "close")
  leaving.abort()
  await expect(pending).rejects.toMatchObject({ name: "AbortError" })
  await closed
  server.close()
})

test("a request that still waits for a connection to the same origin gets one", async () => {
  const url = await serve((_request, response) => response.end("here"))
  const leaving = new AbortController()
  const left = fetch(url, { signal: leaving.signal })
  const stays = fetch(url)
  leaving.abort()
  await expect(left).rejects.toMatchObject({ name: "AbortError" })
  expect(await readAll(await stays)).toBe("here")
})

test("an answer that is not HTTP is a broken connection", async () => {
  const server = createSilentServer((socket) => socket.on("error", () => {}).end("hello\r\n\r\n")).listen(0)
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  await expect(fetch(`http://127.0.0.1:${port}/v1`)).rejects.toMatchObject({ code: "EPROTO" })
  server.close()
})

test("a large request that is accepted slowly is not silence", async () => {
  const url = await serve((request, response) => {
    let taken = 0
    request.on("data", (data: Buffer) => {
      taken += data.length
      request.pause()
      void wait(10).then(() => request.resume())
    })
    request.on("end", () => response.end(String(taken)))
  })
  // The whole upload takes longer than the limit, but no single piece does, even on a busy machine.
  const impatient = http({ idleMs: 1_000 })
  const body = [Buffer.alloc(12 * 1024 * 1024), Buffer.from("end")]
  expect(await readAll(await impatient(url, { method: "POST", body }))).toBe(String(12 * 1024 * 1024 + 3))
})

verifies(
  "provider.no-time-limit",
  async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    const url = await serve((_request, response) => asked.resolve(response))
    const pending = fetch(url)
    const response = await asked.promise
    // By default undici waits five minutes for an answer, and for each piece of it.
    passHour()
    response.write("after a long ")
    const reader = (await pending).body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("after a long ")
    passHour()
    response.end("thought")
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("thought")
  },
  "a connection may stay silent as long as it likes",
)

test("a connection that stays silent is given up", async () => {
  const url = await serve(() => {})
  const impatient = http({ idleMs: 20 })
  await expect(impatient(url)).rejects.toMatchObject({ code: "ETIMEDOUT", message: "silent for 20 ms" })
})

test("a reader that comes after the end finds everything", async () => {
  const sent = Promise.withResolvers<void>()
  const url = await serve((_request, response) => {
    response.once("finish", () => sent.resolve())
    response.write("one ")
    response.end("two")
  })
  const response = await fetch(url)
  const reader = response.body?.getReader()
  await sent.promise
  // Whole turns of the loop, so that the end has arrived before the test reads.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  let text = ""
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    text += Buffer.from(value).toString()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(text).toBe("one two")
})

test("the server is held back while nobody reads", async () => {
  const total = 64 * 1024 * 1024
  let sent = 0
  const url = await serve((_request, response) => {
    const chunk = Buffer.alloc(1024 * 1024)
    const more = (): void => {
      while (sent < total) {
        sent += chunk.length
        if (!response.write(chunk)) return void response.once("drain", more)
      }
      response.end()
    }
    more()
  })
  const reader = (await fetch(url)).body?.getReader()
  let received = (await reader?.read())?.value?.length ?? 0
  // Waits until nothing moves any more: everything that can be sent has been sent.
  for (let still = 0, seen = -1; still < 200; still = seen === sent ? still + 1 : 0) {
    seen = sent
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(sent).toBeLessThan(total)
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    received += value.length
  }
  expect(received).toBe(total)
})
