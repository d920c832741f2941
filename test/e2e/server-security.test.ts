import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"

import { expect, test } from "vitest"

import { failureIn, openHttpScene, type HttpScene } from "../http-scene.ts"
import { rawRequest, sendRaw } from "../raw-http.ts"
import { emptyFolder } from "./cli-binary.ts"
import { startServer } from "./server-process.ts"

const headersOf = ({ server }: HttpScene): readonly string[] => [
  `Host: 127.0.0.1:${server.port}`,
  `Authorization: Bearer ${server.token}`,
]

const codeIn = (body: string): string => {
  const document: unknown = JSON.parse(body)
  expect(document).toEqual({
    error: { code: expect.any(String), message: expect.any(String), next: expect.any(String) },
  })
  return /"code":"(\w+)"/.exec(body)?.[1] ?? ""
}

/** A page with one script, and a secret next to it. */
const makePage = (base: string): { readonly pageDirectory: string } => {
  const page = join(base, "page")
  mkdirSync(join(page, "assets"), { recursive: true })
  writeFileSync(join(page, "index.html"), "<!doctype html><title>Meridian</title>")
  writeFileSync(join(page, "assets/app.js"), "export {}")
  writeFileSync(join(base, "secret.txt"), "TOP SECRET")
  symlinkSync(join(base, "secret.txt"), join(page, "link.txt"))
  return { pageDirectory: page }
}

const openPageScene = (): Promise<HttpScene> => openHttpScene([], makePage)

test.each([
  ["another name", "evil.example"],
  ["another name with our port", "evil.example:PORT"],
  ["another port", "127.0.0.1:1"],
  ["no port", "127.0.0.1"],
  ["our name in front of another", "127.0.0.1:PORT.evil.example"],
  ["a name with a user in it", "127.0.0.1:PORT@evil.example"],
  ["nothing", ""],
])("a request for %s as Host is refused, with the token and without", async (_name, host) => {
  await using scene = await openHttpScene()
  const { port, token } = scene.server
  for (const path of ["/api/session", "/api/health", "/", "/openapi.json"]) {
    const answer = await sendRaw(
      port,
      rawRequest(`GET ${path}`, [
        `Host: ${host.replace("PORT", String(port))}`,
        `Authorization: Bearer ${token}`,
      ]),
    )
    expect([path, answer.status, codeIn(answer.body)]).toEqual([path, 403, "HOST_REFUSED"])
  }
})

test.each(["127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT", "LOCALHOST:PORT"])(
  "a request for %s is answered",
  async (host) => {
    await using scene = await openHttpScene()
    const { port } = scene.server
    const answer = await sendRaw(
      port,
      rawRequest("GET /api/health", [`Host: ${host.replace("PORT", String(port))}`]),
    )
    expect(answer.status).toBe(200)
  },
)

test("a request without a Host, and one with two, is refused", async () => {
  await using scene = await openHttpScene()
  const { port } = scene.server
  const host = `Host: 127.0.0.1:${port}`
  const none = await sendRaw(port, rawRequest("GET /api/health", []))
  expect([none.status, codeIn(none.body)]).toEqual([400, "REQUEST_MALFORMED"])
  expect(none.head).toContain("x-content-type-options: nosniff")
  const two = await sendRaw(port, rawRequest("GET /api/health", [host, "Host: evil.example"]))
  expect([two.status, codeIn(two.body)]).toEqual([403, "HOST_REFUSED"])
})

test("an expectation nobody knows is refused with a reason", async () => {
  await using scene = await openHttpScene()
  const { port } = scene.server
  const answer = await sendRaw(
    port,
    rawRequest("GET /api/health", [`Host: 127.0.0.1:${port}`, "Expect: 200-maybe"]),
  )
  expect([answer.status, codeIn(answer.body)]).toEqual([417, "EXPECTATION_REFUSED"])
  expect(answer.head).toContain("x-content-type-options: nosniff")
})

test.each(["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example", "file://"])(
  "a request that comes from %s is refused, though it has the token",
  async (origin) => {
    await using scene = await openHttpScene()
    const { port } = scene.server
    for (const line of ["GET /api/session", "POST /api/session", "OPTIONS /api/session", "GET /api/health"]) {
      const answer = await sendRaw(port, rawRequest(line, [...headersOf(scene), `Origin: ${origin}`]))
      expect([line, answer.status, codeIn(answer.body)]).toEqual([line, 403, "ORIGIN_REFUSED"])
      expect(answer.head.toLowerCase()).not.toContain("access-control")
    }
  },
)

test("a request of the server's own page is answered", async () => {
  await using scene = await openHttpScene()
  const { port } = scene.server
  for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
    const answer = await sendRaw(
      port,
      rawRequest("GET /api/session", [...headersOf(scene), `Origin: ${origin}`]),
    )
    expect(answer.status).toBe(200)
  }
})

test.each([
  ["no token", undefined],
  ["an empty token", "Bearer "],
  ["another token", `Bearer ${"a".repeat(43)}`],
  ["half the token", "Bearer HALF"],
  ["the token as Basic", "Basic TOKEN"],
  ["the token twice", "Bearer TOKEN TOKEN"],
])("with %s only health and the description are answered", async (_name, value) => {
  await using scene = await openHttpScene()
  const { port, token } = scene.server
  const sent = value?.replaceAll("TOKEN", token).replace("HALF", token.slice(0, 20))
  const headers = [`Host: 127.0.0.1:${port}`, ...(sent === undefined ? [] : [`Authorization: ${sent}`])]
  for (const line of [
    "GET /api/session",
    "POST /api/session",
    "GET /api/session/x/event",
    "GET /api/space",
    "GET /api/nothing",
    `GET /api/session?token=${token}`,
  ]) {
    const answer = await sendRaw(port, rawRequest(line, headers))
    expect([line, answer.status, codeIn(answer.body)]).toEqual([line, 401, "UNAUTHORIZED"])
  }
  for (const path of ["/api/health", "/openapi.json"])
    expect((await sendRaw(port, rawRequest(`GET ${path}`, headers))).status).toBe(200)
})

test("a body is not even read when the token is wrong", async () => {
  await using scene = await openHttpScene()
  const { port } = scene.server
  const answer = await sendRaw(
    port,
    rawRequest("POST /api/session", [
      `Host: 127.0.0.1:${port}`,
      "Content-Type: application/json",
      "Content-Length: 999999999",
    ]),
  )
  expect([answer.status, codeIn(answer.body)]).toEqual([401, "UNAUTHORIZED"])
})

test.each([
  "/../secret.txt",
  "/assets/../../secret.txt",
  "/%2e%2e/secret.txt",
  "/..%2fsecret.txt",
  "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
  "/..\\secret.txt",
  "/%5c..%5csecret.txt",
  "//secret.txt",
  "/.%00./secret.txt",
  "/index.html%00.js",
  "/link.txt",
  "/assets",
  "/assets/",
  "/./index.html",
  "/../../../../../../etc/passwd",
  "/etc/passwd",
  "/api/../index.html",
  "http://evil.example/index.html",
  "*",
])("no address leaves the page: %s", async (path) => {
  await using scene = await openPageScene()
  const answer = await sendRaw(scene.server.port, rawRequest(`GET ${path}`, headersOf(scene)))
  expect([400, 404]).toContain(answer.status)
  expect(answer.body).not.toContain("SECRET")
  expect(answer.body).not.toContain("root:")
  expect(answer.body).not.toContain(scene.base)
})

test("the page is served whole, with a policy that allows nothing from elsewhere", async () => {
  await using scene = await openPageScene()
  const page = await fetch(`${scene.server.url}/`)
  const script = await fetch(`${scene.server.url}/assets/app.js`)
  const again = await fetch(`${scene.server.url}/`, {
    headers: { "if-none-match": page.headers.get("etag") ?? "" },
  })
  expect(await page.text()).toBe("<!doctype html><title>Meridian</title>")
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
  const policy = page.headers.get("content-security-policy") ?? ""
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain("unsafe")
  expect(policy).not.toContain("http")
  expect(page.headers.get("x-content-type-options")).toBe("nosniff")
  expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"])
  expect(again.status).toBe(304)
})

test("a body larger than its route takes is refused by its announced length and by its bytes", async () => {
  await using scene = await openHttpScene([], { limits: { bodyBytes: 1_000, largeBodyBytes: 5_000 } })
  const post = (path: string, body: string | ReadableStream) =>
    failureIn(
      scene.ask(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        ...(typeof body === "string" ? {} : { duplex: "half" }),
      }),
    )
  const streamOf = (size: number) => new Blob(["x".repeat(size)]).stream()
  await scene.client.sessions.create({ id: "s", location: { directory: scene.directory } })
  expect(await post("/api/session", "x".repeat(1_001))).toEqual([413, "BODY_TOO_LARGE"])
  expect(await post("/api/session", streamOf(1_001))).toEqual([413, "BODY_TOO_LARGE"])
  expect(await post("/api/session", streamOf(5_000_000))).toEqual([413, "BODY_TOO_LARGE"])
  expect(await post("/api/session", "x".repeat(1_000))).toEqual([400, "INVALID_INPUT"])
  expect(await post("/api/session/s/prompt", streamOf(5_001))).toEqual([413, "BODY_TOO_LARGE"])
  expect(await post("/api/session/s/prompt", streamOf(5_000))).toEqual([400, "INVALID_INPUT"])
  expect((await scene.ask("/api/session/s")).status).toBe(200)
})

test.each([
  ["text/plain", "identity"],
  ["application/x-www-form-urlencoded", "identity"],
  ["application/jsonp", "identity"],
  ["", "identity"],
  ["application/json", "gzip"],
])("a body of type %s in %s is refused", async (type, encoding) => {
  await using scene = await openHttpScene()
  const headers = { "content-type": type, "content-encoding": encoding }
  expect(await failureIn(scene.ask("/api/session", { method: "POST", headers, body: "{}" }))).toEqual([
    415,
    "MEDIA_TYPE_REFUSED",
  ])
})

test.each([
  ["no JSON", "{"],
  ["JSON with bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ["JSON that is nested without end", "[".repeat(100_000)],
  ["a prototype", '{"__proto__":{"location":{"directory":"/"}}}'],
])("a body that is %s is refused", async (_name, body) => {
  await using scene = await openHttpScene()
  const headers = { "content-type": "application/json" }
  expect(await failureIn(scene.ask("/api/session", { method: "POST", headers, body }))).toEqual([
    400,
    "INVALID_INPUT",
  ])
})

const SLOW = { limits: { headersMs: 1_000, requestMs: 1_500, checkMs: 50 } }

test("a head that never ends is cut off, and others are answered meanwhile", async () => {
  await using scene = await openHttpScene([], SLOW)
  const slow = sendRaw(scene.server.port, ["GET /api/health HTTP/1.1\r\n", "X-Slow: "])
  expect((await scene.ask("/api/health")).status).toBe(200)
  const answer = await slow
  expect([answer.status, codeIn(answer.body)]).toEqual([408, "REQUEST_TIMEOUT"])
})

test("a body that drips is cut off, however many connections drip at once", async () => {
  await using scene = await openHttpScene([], SLOW)
  const head = rawRequest("POST /api/session", [
    ...headersOf(scene),
    "Content-Type: application/json",
    "Content-Length: 1000",
  ])
  const dripping = Array.from({ length: 50 }, () => sendRaw(scene.server.port, [...head, "{"]))
  expect((await scene.ask("/api/health")).status).toBe(200)
  const answers = await Promise.all(dripping)
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 408))
})

test("a connection that says nothing at all is closed", async () => {
  await using scene = await openHttpScene([], SLOW)
  const answer = await sendRaw(scene.server.port, [])
  expect(answer.status).toBe(408)
})

test("headers without end and addresses without end are refused", async () => {
  await using scene = await openHttpScene()
  const { port } = scene.server
  const big = await sendRaw(
    port,
    rawRequest("GET /api/health", [...headersOf(scene), `X-Big: ${"x".repeat(20_000)}`]),
  )
  expect([big.status, codeIn(big.body)]).toEqual([431, "HEADERS_TOO_LARGE"])
  const long = await sendRaw(
    port,
    rawRequest(`GET /api/session?cursor=${"x".repeat(9_000)}`, headersOf(scene)),
  )
  expect([long.status, codeIn(long.body)]).toEqual([414, "ADDRESS_TOO_LONG"])
})

test("nothing a client sends becomes a header of the answer", async () => {
  await using scene = await openHttpScene()
  const { port } = scene.server
  const evil = "x%0d%0aset-cookie:%20evil=1%0d%0a%0d%0a<script>"
  for (const path of [
    `/api/session/${evil}`,
    `/api/session/x/message/${evil}`,
    `/${evil}`,
    `/api/session?cursor=${evil}`,
    `/api/session/${evil}/event?after=0`,
  ]) {
    const answer = await sendRaw(port, rawRequest(`GET ${path}`, headersOf(scene)))
    expect([400, 404]).toContain(answer.status)
    expect(answer.head.toLowerCase()).not.toContain("set-cookie")
    expect(answer.head).toContain("content-type: application/json")
  }
})

test.each([
  ["a line break in a header", "GET /api/health", ["X-Bad: a\rb"]],
  ["a header without a name", "GET /api/health", [": nothing"]],
  ["a folded header", "GET /api/health", ["X-Bad: a", " b"]],
  ["two lengths", "POST /api/session", ["Content-Length: 1", "Content-Length: 2"]],
  ["a length and chunks", "POST /api/session", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
  ["a method nobody knows", "EVIL /api/health", []],
])("%s is no request", async (_name, line, headers) => {
  await using scene = await openHttpScene()
  const answer = await sendRaw(scene.server.port, rawRequest(line, [...headersOf(scene), ...headers]))
  expect([answer.status, codeIn(answer.body)]).toEqual([400, "REQUEST_MALFORMED"])
})

test("a bad Last-Event-ID is refused and not repeated", async () => {
  await using scene = await openHttpScene()
  await scene.client.sessions.create({ id: "s", location: { directory: scene.directory } })
  const response = await scene.ask("/api/session/s/event", { headers: { "last-event-id": "1<script>" } })
  expect(response.status).toBe(400)
  expect(await response.text()).not.toContain("script")
})

test("a client that leaves in the middle of a request does no harm", async () => {
  await using scene = await openHttpScene()
  for (let count = 0; count < 20; count += 1) {
    const socket = connect(scene.server.port, "127.0.0.1")
    await new Promise<void>((resolve) => socket.once("connect", resolve))
    socket.write(
      `POST /api/session HTTP/1.1\r\n${headersOf(scene).join("\r\n")}\r\nContent-Length: 100\r\n\r\n{`,
    )
    socket.destroy()
  }
  expect((await scene.ask("/api/session")).status).toBe(200)
  expect(scene.lines).toEqual([])
})

test("a session has no directory unless the client names one", async () => {
  await using scene = await openHttpScene()
  const headers = { "content-type": "application/json" }
  expect(await failureIn(scene.ask("/api/session", { method: "POST", headers, body: "{}" }))).toEqual([
    400,
    "INVALID_INPUT",
  ])
  expect(await (await scene.ask("/openapi.json")).text()).not.toContain(scene.base)
})

test("the command listens on loopback only, keeps its token in a file of its owner, and ends cleanly", async () => {
  const folder = emptyFolder("meridian-serve-")
  const old = join(folder, ".meridian/http-token")
  mkdirSync(join(folder, ".meridian"))
  writeFileSync(old, `${"a".repeat(43)}\n`, { mode: 0o600 })
  const home = emptyFolder("meridian-home-")
  const start = () => startServer(folder, ["--port", "0"], { XDG_STATE_HOME: home })
  const server = await start()
  const tokens = join(home, "meridian/http-token")
  const file = join(tokens, readdirSync(tokens)[0] ?? "")
  // Where the file tools of a run read, there is none.
  expect(existsSync(old)).toBe(false)
  const written = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  expect(written.length).toBeGreaterThan(1)
  expect(written.filter((content) => content.includes(server.token))).toEqual([])
  for (const name of ["engine.sqlite", "engine.sqlite-wal"])
    expect(statSync(join(folder, ".meridian", name)).mode & 0o777).toBe(0o600)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, "utf8")).toBe(`${server.token}\n`)
  expect(server.token).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(listeners(server.port)).toEqual(existsSync(SOCKETS) ? [LOOPBACK] : [])
  const answer = await fetch(`${server.url}/api/session`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  expect(await answer.json()).toEqual({ items: [] })
  expect(await server.end("SIGTERM")).toBe(0)
  expect(server.output().split(server.token).length - 1).toBe(1)

  const second = await start()
  expect(second.token).toBe(server.token)
  await second.end("SIGTERM")
  chmodSync(file, 0o644)
  const third = await start()
  expect(third.token).not.toBe(server.token)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await third.end("SIGTERM")
  for (const made of [folder, home]) rmSync(made, { recursive: true, force: true })
})

test("another address than loopback is served when asked for, with a warning, and still only under its own names", async () => {
  const folder = emptyFolder("meridian-serve-")
  const server = await startServer(folder, ["--port", "0", "--host", "0.0.0.0"])
  expect(server.output()).toContain("[HOST_OPEN]")
  expect(server.output()).toContain("anyone with the token can run commands here")
  const ask = (host: string) =>
    sendRaw(server.port, rawRequest("GET /api/health", [`Host: ${host}:${server.port}`]))
  expect((await ask("localhost")).status).toBe(200)
  expect((await ask("0.0.0.0")).status).toBe(200)
  expect((await ask("rebound.example")).status).toBe(403)
  expect(await server.end("SIGTERM")).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  [["--host", ""], "--host needs an address."],
  [["--port", "65536"], '--port must be a whole number from 0 to 65535, got "65536".'],
])("%j is refused before anything is opened", async (args, says) => {
  const folder = emptyFolder("meridian-serve-")
  const said = await startServer(folder, args).catch((cause: unknown) => String(cause))
  expect(said).toContain(`ERROR [USAGE]: ${says} Next: run 'meridian serve --help'.`)
  expect(existsSync(join(folder, ".meridian"))).toBe(false)
  rmSync(folder, { recursive: true, force: true })
})

test("a port that is taken is said in a sentence, and nothing is left open", async () => {
  const folder = emptyFolder("meridian-serve-")
  const server = await startServer(folder, ["--port", "0"])
  const second = await startServer(folder, ["--port", String(server.port)]).catch((cause: unknown) =>
    String(cause),
  )
  expect(second).toContain(
    `ERROR [PORT_UNAVAILABLE]: Cannot listen on 127.0.0.1 port ${server.port}: another program listens there (EADDRINUSE).`,
  )
  // Another server on the same state is fine. They share the sessions, and one of them works on each.
  const third = await startServer(folder, ["--port", "0"])
  expect(third.token).toBe(server.token)
  await third.end("SIGTERM")
  await server.end("SIGTERM")
  rmSync(folder, { recursive: true, force: true })
})

const SOCKETS = "/proc/net/tcp"
const LOOPBACK = "0100007F"

/** Addresses that listen on this port, as the kernel writes them. */
const listeners = (port: number): readonly string[] =>
  [SOCKETS, `${SOCKETS}6`]
    .filter((table) => existsSync(table))
    .flatMap((table) =>
      readFileSync(table, "utf8")
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter(
          ([, local = "", , state]) =>
            state === "0A" && Number.parseInt(local.split(":")[1] ?? "", 16) === port,
        )
        .map(([, local = ""]) => local.split(":")[0] ?? ""),
    )
