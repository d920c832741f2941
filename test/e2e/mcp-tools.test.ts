/** MCP servers as tool sources: real processes over stdio, a real server over HTTP. */
import { once } from "node:events"
import { copyFile, readFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { join } from "node:path"
import { json } from "node:stream/consumers"
import { setTimeout as delay } from "node:timers/promises"

import { expect, test } from "vitest"

import type { Tool } from "../../packages/engine/src/port/tool.ts"
import { TOOL_LIMITS } from "../../packages/engine/src/tool/limits.ts"
import { readMcpServers } from "../../packages/engine/src/tool/mcp-servers.ts"
import { openMcp, uniqueName, type McpOptions } from "../../packages/engine/src/tool/mcp.ts"
import { openProcessGuard } from "../../packages/engine/src/tool/process-guard.ts"
import { findProcesses } from "../../packages/engine/src/tool/process-table.ts"
import { openToolRegistry } from "../../packages/engine/src/tool/registry.ts"
import { openScene, openWorkspace, textOf } from "../tool-scene.ts"

const fixture = (name: string) => join(import.meta.dirname, "../fixture", name)
const ECHO = { command: process.execPath, args: [fixture("mcp-echo.mjs")] }
const HOSTILE = { command: [process.execPath, fixture("mcp-hostile.mjs")] }

const openBench = async (configured: unknown, more: Partial<McpOptions> = {}) => {
  const space = await openWorkspace()
  const guard = openProcessGuard({ graceMs: 50 })
  const mcp = openMcp({
    servers: readMcpServers(configured),
    guard,
    environment: { PATH: "/usr/bin:/bin" },
    directory: space.root,
    monotonic: () => performance.now(),
    ...more,
  })
  return {
    space,
    guard,
    mcp,
    tool: async (name: string): Promise<Tool> => {
      const tools = await mcp.tools()
      const found = tools.find((one) => one.advertisement.name === name)
      if (found === undefined)
        throw new Error(`no ${name} in ${tools.map((one) => one.advertisement.name).join()}`)
      return found
    },
    [Symbol.asyncDispose]: async () => {
      await mcp.close()
      await guard.close()
      await space[Symbol.asyncDispose]()
    },
  }
}

const pidsIn = async (file: string): Promise<readonly number[]> => {
  const text = await readFile(file, "utf8").catch(() => "")
  return text.split("\n").flatMap((line) => (line === "" ? [] : [Number(line)]))
}
const running = async (pids: readonly number[]): Promise<number> => {
  const rows = await findProcesses(async ({ pid }) => pids.includes(pid))
  return rows.length
}

test("a stdio server's tool is advertised, asked for by its own name and called", async () => {
  await using bench = await openBench({ lab: { ...ECHO, env: { MCP_MARK: "set" } } })
  const echo = await bench.tool("lab_echo")
  expect(echo.advertisement).toEqual({
    name: "lab_echo",
    description: "Says the text back",
    input: {
      type: "object",
      properties: { text: { type: "string" }, times: { type: "integer" } },
      required: ["text"],
    },
  })
  const scene = openScene()
  expect(await echo.execute({ text: "hi", times: 2 }, scene)).toEqual({
    content: [{ type: "text", text: "hi hi [env=set]" }],
  })
  expect(scene.questions).toEqual([
    {
      action: "lab_echo",
      resources: ["*"],
      title: "lab: echo",
      detail: { input: '{"text":"hi","times":2}' },
    },
  ])
})

test("an input that does not fit the server's schema is refused before anyone is asked or called", async () => {
  await using bench = await openBench({ lab: ECHO })
  const echo = await bench.tool("lab_echo")
  const scene = openScene()
  await expect(echo.execute({ text: 1, times: "two" }, scene)).rejects.toMatchObject({
    code: "invalid-input",
    message: expect.stringMatching(/`text`.*`times`/),
  })
  expect(scene.questions).toEqual([])
})

test("nothing is started before tools are wanted", async () => {
  await using bench = await openBench({ lab: { ...HOSTILE, environment: { HOSTILE_PIDS: "pids" } } })
  expect(await pidsIn(join(bench.space.root, "pids"))).toEqual([])
  await bench.mcp.tools()
  expect(await pidsIn(join(bench.space.root, "pids"))).toHaveLength(2)
})

test("a server that dies in a call gives an error, and the next call starts it again", async () => {
  await using bench = await openBench({ lab: HOSTILE }, { backoffMs: 0 })
  await expect((await bench.tool("lab_die")).execute({}, openScene())).rejects.toMatchObject({
    code: "failed",
    message: expect.stringContaining("The MCP server lab broke off"),
  })
  expect(textOf(await (await bench.tool("lab_nothing")).execute({}, openScene()))).toBe("(done)")
})

test("a server that hangs is given up after its time, ended, and started again by the next call", async () => {
  await using bench = await openBench(
    { lab: { ...HOSTILE, environment: { HOSTILE_PIDS: "pids" } } },
    { backoffMs: 0, callMs: 1500 },
  )
  const hang = await bench.tool("lab_hang")
  await expect(hang.execute({}, openScene())).rejects.toMatchObject({
    code: "timeout",
    message: "The MCP server lab did not answer within 1.5 s.",
  })
  const first = await pidsIn(join(bench.space.root, "pids"))
  expect(await running(first)).toBe(0)
  expect(textOf(await (await bench.tool("lab_nothing")).execute({}, openScene()))).toBe("(done)")
})

test("an interrupt settles a call that hangs", async () => {
  await using bench = await openBench({ lab: HOSTILE }, { graceMs: 100 })
  const hang = await bench.tool("lab_hang")
  await expect(hang.execute({}, openScene({ signal: AbortSignal.timeout(50) }))).rejects.toMatchObject({
    code: "interrupted",
  })
})

test("a server that keeps failing is left alone for a while, with the reason", async () => {
  await using bench = await openBench({ lab: HOSTILE }, { backoffMs: 60_000 })
  const die = await bench.tool("lab_die")
  await expect(die.execute({}, openScene())).rejects.toThrow(/broke off/)
  await expect(die.execute({}, openScene())).rejects.toThrow(/is tried again in \d+ s/)
})

test("a server that cannot be started, one that ends and one without end do not take the others away", async () => {
  await using bench = await openBench({
    missing: { command: "/no/such/program" },
    ends: { ...HOSTILE, environment: { HOSTILE_START: "exit" } },
    pages: { ...HOSTILE, environment: { HOSTILE_PAGES: "endless" } },
    lab: ECHO,
  })
  expect((await bench.mcp.tools()).map(({ advertisement }) => advertisement.name)).toEqual(["lab_echo"])
  const problems = bench.mcp.problems()
  expect(problems.map(({ server }) => server)).toEqual(["missing", "ends", "pages"])
  expect(problems.every(({ message }) => message.startsWith("The MCP server "))).toBe(true)
})

test("a server that never answers is given up after its time", async () => {
  await using bench = await openBench(
    { hangs: { ...HOSTILE, environment: { HOSTILE_START: "hang", HOSTILE_PIDS: "pids" } } },
    { connectMs: 300 },
  )
  expect(await bench.mcp.tools()).toEqual([])
  expect(bench.mcp.problems().map(({ server }) => server)).toEqual(["hangs"])
  expect(await running(await pidsIn(join(bench.space.root, "pids")))).toBe(0)
})

test("the list stays the same until a server says that it changed", async () => {
  await using bench = await openBench({ lab: HOSTILE })
  const before = await bench.mcp.tools()
  expect(await bench.mcp.tools()).toBe(before)
  await (await bench.tool("lab_learn")).execute({}, openScene())
  const names = async () => (await bench.mcp.tools()).map(({ advertisement }) => advertisement.name)
  while (!(await names()).includes("lab_learned")) await delay(10)
  expect((await names()).filter((name) => name !== "lab_learned")).toEqual(
    before.map(({ advertisement }) => advertisement.name),
  )
})

test("a server that was not there at first is found later, without making anyone wait", async () => {
  await using bench = await openBench(
    { lab: { command: [process.execPath, "server.mjs"] } },
    { backoffMs: 0 },
  )
  expect(await bench.mcp.tools()).toEqual([])
  await copyFile(fixture("mcp-echo.mjs"), join(bench.space.root, "server.mjs"))
  while ((await bench.mcp.tools()).length === 0) await delay(10)
  expect(bench.mcp.problems()).toEqual([])
})

test("closing ends the server and what it started, though both ignore being asked", async () => {
  const bench = await openBench({ lab: { ...HOSTILE, environment: { HOSTILE_PIDS: "pids" } } })
  await bench.mcp.tools()
  const pids = await pidsIn(join(bench.space.root, "pids"))
  expect(await running(pids)).toBe(2)
  await bench.mcp.close()
  expect(await running(pids)).toBe(0)
  await expect((await bench.tool("lab_nothing")).execute({}, openScene())).rejects.toThrow(/is closed/)
  await bench[Symbol.asyncDispose]()
})

test("results become text and media, refusals and errors become words", async () => {
  await using bench = await openBench({ lab: HOSTILE })
  expect(await (await bench.tool("lab_picture")).execute({}, openScene())).toEqual({
    content: [
      { type: "media", mediaType: "image/png", base64: "iVBORw==" },
      { type: "text", text: "inner" },
      { type: "text", text: "link: a://c" },
    ],
  })
  expect(await (await bench.tool("lab_structured")).execute({}, openScene())).toEqual({
    content: [{ type: "text", text: '{"answer":42}' }],
    structured: { answer: 42 },
  })
  await expect((await bench.tool("lab_fail")).execute({}, openScene())).rejects.toMatchObject({
    code: "failed",
    message: "the tool itself failed",
  })
  await expect((await bench.tool("lab_refuse")).execute({}, openScene())).rejects.toThrow(
    /answered: .*cannot refuse/,
  )
  expect(textOf(await (await bench.tool("lab_odd_name_")).execute({}, openScene()))).toBe("one")
  expect(textOf(await (await bench.tool("lab_odd_name__2")).execute({}, openScene()))).toBe("two")
})

test("tools of a server go through the registry like all others", async () => {
  await using bench = await openBench({ lab: HOSTILE })
  const registry = openToolRegistry(bench.space)
  registry.contribute(await bench.mcp.tools())
  const output = await registry.materialize().call("lab_long", {}, openScene())
  expect(output.outputPath).toContain(bench.space.outputDirectory)
})

const openHttp = async (): Promise<{ server: Server; url: string; headers: string[] }> => {
  const headers: string[] = []
  const server = createServer(async (request, response) => {
    headers.push(String(request.headers["x-key"]))
    if (request.method !== "POST") return void response.writeHead(405).end()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the client of this test speaks to it
    const { id, method, params } = (await json(request)) as {
      id?: number
      method: string
      params: { protocolVersion: string; name: string }
    }
    if (id === undefined) return void response.writeHead(202).end()
    const result =
      method === "initialize"
        ? {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: "h", version: "0" },
          }
        : method === "tools/list"
          ? { tools: ["hello", "break"].map((name) => ({ name, inputSchema: { type: "object" } })) }
          : { content: [{ type: "text", text: `hello from ${params.name}` }] }
    if (params?.name === "break") return void request.socket.destroy()
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { server, url: `http://127.0.0.1:${port}/mcp`, headers }
}

test("a server over HTTP works with its headers, breaks off and comes back", async () => {
  const http = await openHttp()
  try {
    await using bench = await openBench(
      { web: { url: http.url, headers: { "x-key": "secret" } } },
      { backoffMs: 0 },
    )
    expect(textOf(await (await bench.tool("web_hello")).execute({}, openScene()))).toBe("hello from hello")
    expect(new Set(http.headers)).toEqual(new Set(["secret"]))
    const broken = (await bench.tool("web_break")).execute({}, openScene())
    await expect(broken).rejects.toMatchObject({
      code: "failed",
      message: expect.not.stringContaining("secret"),
    })
    expect(textOf(await (await bench.tool("web_hello")).execute({}, openScene()))).toBe("hello from hello")
  } finally {
    http.server.closeAllConnections()
    http.server.close()
  }
})

test("a server logs a program in by OAuth, and its secret goes to its issuer alone", async () => {
  const asked: string[] = []
  let origin = ""
  const server = createServer(async (request, response) => {
    const send = (code: number, value: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(value))
    }
    asked.push(`${request.method} ${request.url}`)
    if (request.url?.startsWith("/.well-known/oauth-protected-resource") === true)
      return send(200, { resource: `${origin}/mcp`, authorization_servers: [origin] })
    if (request.url?.startsWith("/.well-known/") === true)
      return send(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        grant_types_supported: ["client_credentials"],
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      })
    if (request.url === "/token") {
      const known = request.headers.authorization === `Basic ${btoa("robot:very-secret-1")}`
      return known
        ? send(200, { access_token: "token-1", token_type: "Bearer", expires_in: 3600 })
        : send(401, { error: "invalid_client" })
    }
    if (request.headers.authorization !== "Bearer token-1")
      return send(
        401,
        {},
        {
          "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
        },
      )
    if (request.method !== "POST") return void response.writeHead(405).end()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the client of this test speaks to it
    const { id, method, params } = (await json(request)) as {
      id?: number
      method: string
      params: { protocolVersion: string }
    }
    if (id === undefined) return void response.writeHead(202).end()
    const { protocolVersion } = params ?? {}
    const serverInfo = { name: "o", version: "0" }
    send(200, {
      jsonrpc: "2.0",
      id,
      result:
        method === "initialize"
          ? { protocolVersion, capabilities: { tools: {} }, serverInfo }
          : { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  try {
    const oauth = { clientId: "robot", clientSecret: "very-secret-1", issuer: origin }
    await using bench = await openBench({ web: { url: `${origin}/mcp`, oauth } })
    expect((await bench.mcp.tools()).map(({ advertisement }) => advertisement.name)).toEqual(["web_hello"])
    asked.length = 0
    const elsewhere = { ...oauth, issuer: "https://login.example" }
    await using other = await openBench({ web: { url: `${origin}/mcp`, oauth: elsewhere } })
    expect(await other.mcp.tools()).toEqual([])
    expect(asked).not.toContain("POST /token")
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test("names follow the grammar whatever a server calls its tools", () => {
  expect(uniqueName("1 ö.tool", new Set())).toBe("mcp_1___tool")
  expect(uniqueName("a".repeat(100), new Set())).toHaveLength(TOOL_LIMITS.toolNameCharacters)
  const taken = new Set(["a".repeat(64)])
  expect(uniqueName("a".repeat(100), taken)).toBe(`${"a".repeat(62)}_2`)
})

test.each([
  ["text", /must be an object/],
  [{ a: {} }, /a needs a command or a url/],
  [{ a: { command: 1 } }, /`a.command` must be text or a list, not a number/],
  [{ a: { url: "file:///etc/passwd" } }, /`a.url` must be an http or https address/],
  [{ a: { command: "x", env: { A: 1 } } }, /`a.env.A` must be text, not a number/],
  [[{ command: "x" }], /needs a name/],
])("a wrong configuration is named (%#)", (configured, message) => {
  expect(() => readMcpServers(configured)).toThrow(message)
})

test("a switched-off server is left out, and a list is understood", () => {
  expect(readMcpServers({ a: { command: "x", enabled: false } })).toEqual([])
  expect(readMcpServers([{ name: "a", command: ["x", "y"] }])).toEqual([
    { type: "stdio", name: "a", command: "x", args: ["y"], environment: {}, directory: undefined },
  ])
})
