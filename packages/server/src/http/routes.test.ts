import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Validator } from "@cfworker/json-schema"
import { jsonSchema } from "@meridian/protocol"
import { expect, test } from "vitest"

import { gate } from "../../../../test/engine-scene.ts"
import { failureIn, openHttpScene, type HttpScene } from "../../../../test/http-scene.ts"
import { verifies } from "../../../../test/verifies.ts"
import { CONTRACT, type Route } from "../contract/contract.ts"
import { HTTP_LIMITS } from "./limits.ts"

const openSession = async (scene: HttpScene, id = "ses_1"): Promise<string> => {
  await scene.client.sessions.create({ id, location: { directory: scene.directory } })
  return id
}

test("a prompt over HTTP becomes an answer, and every page shows it", async () => {
  await using scene = await openHttpScene([{ text: "hello there" }])
  const { sessions } = scene.client
  const created = await sessions.create({ id: "ses_1", location: { directory: scene.directory } })
  const receipt = await sessions.prompt({ sessionID: "ses_1", id: "msg_1", prompt: { text: "hi" } })
  const { settled, session } = await sessions.wait({ sessionID: "ses_1" })
  const { items } = await sessions.messages({ sessionID: "ses_1" })
  expect(created).toMatchObject({ id: "ses_1", status: "idle", location: { directory: scene.directory } })
  expect(receipt).toMatchObject({ id: "msg_1", sessionID: "ses_1", delivery: "steer", resume: true })
  expect(settled).toBe(true)
  expect(session).toEqual(await sessions.get({ sessionID: "ses_1" }))
  expect(items.map((message) => message.type)).toEqual(["user", "assistant"])
  expect(await sessions.message({ sessionID: "ses_1", messageID: "msg_1" })).toEqual(items[0])
  expect((await sessions.list()).items).toEqual([session])
})

test("an exact retry of a prompt gets the first receipt, another prompt with its id a conflict", async () => {
  await using scene = await openHttpScene()
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  const first = await sessions.prompt({ sessionID, id: "m", prompt: { text: "one" }, resume: false })
  expect(await sessions.prompt({ sessionID, id: "m", prompt: { text: "one" }, resume: false })).toEqual(first)
  await expect(sessions.prompt({ sessionID, id: "m", prompt: { text: "two" } })).rejects.toMatchObject({
    code: "PROMPT_CONFLICT",
    status: 409,
  })
})

test("waiting inputs can be listed and cancelled", async () => {
  await using scene = await openHttpScene()
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  const waiting = await sessions.prompt({ sessionID, prompt: { text: "later" }, resume: false })
  expect((await sessions.inputs({ sessionID })).items).toEqual([waiting])
  const cancelled = await sessions.cancel({ sessionID, inputID: waiting.id })
  expect(cancelled).toMatchObject({ id: waiting.id, cancelledSeq: waiting.admittedSeq + 1 })
  expect((await sessions.inputs({ sessionID })).items).toEqual([])
  await expect(sessions.cancel({ sessionID, inputID: waiting.id })).rejects.toMatchObject({
    code: "INPUT_NOT_FOUND",
    status: 404,
  })
})

test("waiting inputs come in pages, by count and by size, and no page omits one", async () => {
  const text = "x".repeat(1_000)
  await using scene = await openHttpScene([], { limits: { ...HTTP_LIMITS, pageBytes: 2_500 } })
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  const waiting = []
  for (let count = 0; count < 7; count += 1)
    waiting.push(await sessions.prompt({ sessionID, prompt: { text }, resume: false }))
  const [one, two, three, four, five, six, seven] = waiting
  const pages = []
  for (let after: number | undefined = 0; after !== undefined; after = pages.at(-1)?.next)
    pages.push(await sessions.inputs({ sessionID, after }))
  expect(pages).toEqual([
    { items: [one, two, three], next: three?.admittedSeq },
    { items: [four, five, six], next: six?.admittedSeq },
    { items: [seven] },
  ])
  expect(await sessions.inputs({ sessionID, limit: 2 })).toEqual({
    items: [one, two],
    next: two?.admittedSeq,
  })
  expect(await sessions.inputs({ sessionID, after: six?.admittedSeq ?? 0, limit: 1 })).toEqual({
    items: [seven],
  })
  await expect(sessions.inputs({ sessionID, limit: 0 })).rejects.toMatchObject({ status: 400 })
  await expect(sessions.inputs({ sessionID, limit: 201 })).rejects.toMatchObject({ status: 400 })
})

test("a page of messages ends where it is large enough, and its cursors lead through all of them both ways", async () => {
  const answers = Array.from({ length: 5 }, () => ({ text: "y".repeat(1_000) }))
  await using scene = await openHttpScene(answers, { limits: { ...HTTP_LIMITS, pageBytes: 1_500 } })
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  for (const _ of answers) {
    await sessions.prompt({ sessionID, prompt: { text: "x".repeat(1_000) } })
    await sessions.wait({ sessionID })
  }
  const first = await sessions.messages({ sessionID })
  const pages = [first]
  for (let next = first.next; next !== undefined; next = pages.at(-1)?.next)
    pages.push(await sessions.messages({ sessionID, cursor: next }))
  expect(pages.map((page) => page.items.length)).toEqual([2, 2, 2, 2, 2])
  expect(new Set(pages.flatMap((page) => page.items.map((message) => message.id))).size).toBe(10)
  const last = pages.at(-1)
  const back = await sessions.messages({ sessionID, cursor: last?.previous ?? "" })
  expect(back.items).toEqual(pages.at(-2)?.items)
})

test("a session is renamed, archived and deleted over HTTP", async () => {
  await using scene = await openHttpScene()
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  await sessions.rename({ sessionID, title: "New name" })
  await sessions.archive({ sessionID, archived: true })
  expect(await sessions.get({ sessionID })).toMatchObject({ title: "New name", archived: true })
  await sessions.delete({ sessionID })
  await expect(sessions.get({ sessionID })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" })
  await expect(sessions.delete({ sessionID })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" })
})

test("agent, model and directory of a session can be changed", async () => {
  await using scene = await openHttpScene()
  const sessionID = await openSession(scene)
  const elsewhere = join(scene.base, "elsewhere")
  mkdirSync(elsewhere)
  const { sessions } = scene.client
  await sessions.switchAgent({ sessionID, agent: "plan" })
  await sessions.switchModel({ sessionID, model: "fake/one" })
  await sessions.move({ sessionID, location: { directory: elsewhere } })
  expect(await sessions.get({ sessionID })).toMatchObject({
    agent: "plan",
    model: "fake/one",
    location: { directory: elsewhere },
  })
  await expect(sessions.switchAgent({ sessionID, agent: "nobody" })).rejects.toMatchObject({
    code: "AGENT_NOT_FOUND",
    message: "Agent nobody is not configured.",
    next: "use one of: build, plan.",
    status: 404,
  })
  await expect(sessions.switchModel({ sessionID, model: "no/model" })).rejects.toMatchObject({ status: 404 })
  await expect(
    sessions.move({ sessionID, location: { directory: join(scene.base, "nowhere") } }),
  ).rejects.toMatchObject({ code: "LOCATION_NOT_FOUND", status: 404 })
})

test("a wait that takes too long says so, and an interrupt ends the work for its caller", async () => {
  const working = gate()
  await using scene = await openHttpScene([
    async () => {
      await working.pass()
      return { text: "too late" }
    },
  ])
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  await sessions.prompt({ sessionID, prompt: { text: "go" }, resume: false })
  const running = sessions.run({ sessionID }).catch((cause: unknown) => cause)
  await working.reached
  expect(await sessions.wait({ sessionID, timeoutSecs: 1 })).toMatchObject({
    settled: false,
    session: { status: "running" },
  })
  await sessions.interrupt({ sessionID })
  expect(await running).toMatchObject({
    code: "INTERRUPTED",
    message: "Session ses_1 was interrupted.",
    status: 409,
  })
  working.open()
  expect((await sessions.get({ sessionID })).status).toBe("interrupted")
})

test("interrupting a missing session is fine; everything else reports that it is missing", async () => {
  await using scene = await openHttpScene()
  await scene.client.sessions.interrupt({ sessionID: "nobody" })
  const calls = [
    ["GET", "/api/session/nobody"],
    ["GET", "/api/session/nobody/message"],
    ["GET", "/api/session/nobody/input"],
    ["GET", "/api/session/nobody/receipt"],
    ["GET", "/api/session/nobody/permission"],
    ["GET", "/api/session/nobody/event"],
    ["POST", "/api/session/nobody/run"],
    ["POST", "/api/session/nobody/wait"],
    ["POST", "/api/session/nobody/wake"],
    ["POST", "/api/session/nobody/compact"],
    ["POST", "/api/session/nobody/restore"],
    ["POST", "/api/session/nobody/fork"],
    ["POST", "/api/session/nobody/undo"],
    ["POST", "/api/session/nobody/redo"],
    ["GET", "/api/session/nobody/file"],
  ] as const
  for (const [method, path] of calls)
    expect([path, await failureIn(scene.ask(path, { method }))]).toEqual([path, [404, "SESSION_NOT_FOUND"]])
})

test("permission requests are listed and answered", async () => {
  await using scene = await openHttpScene(
    [{ tools: [{ name: "write", input: { path: "note.txt", content: "written" } }] }, { text: "done" }],
    { engine: { permissions: [] } },
  )
  const sessionID = await openSession(scene)
  const { sessions, permissions } = scene.client
  await sessions.prompt({ sessionID, prompt: { text: "write" } })
  for await (const event of scene.client.events({ sessionID }))
    if (event.type === "session.next.permission.asked.1") break
  const { items } = await permissions.list()
  const [request] = items
  expect(items).toEqual([expect.objectContaining({ sessionID, action: "edit" })])
  expect((await sessions.permissions({ sessionID })).items).toEqual(items)
  expect((await sessions.get({ sessionID })).status).toBe("waiting")
  await permissions.reply({ requestID: request?.id ?? "", reply: "once" })
  await sessions.wait({ sessionID })
  expect(existsSync(join(scene.directory, "note.txt"))).toBe(true)
  expect((await permissions.list()).items).toEqual([])
  await expect(
    permissions.reply({ requestID: request?.id ?? "", reply: "reject", message: "no" }),
  ).rejects.toMatchObject({ code: "REQUEST_NOT_FOUND", status: 404 })
})

test("what was allowed for good is listed and revoked", async () => {
  await using scene = await openHttpScene(
    [{ tools: [{ name: "write", input: { path: "note.txt", content: "written" } }] }, { text: "done" }],
    { engine: { permissions: [] } },
  )
  const sessionID = await openSession(scene)
  const { sessions, permissions } = scene.client
  await sessions.prompt({ sessionID, prompt: { text: "write" } })
  for await (const event of scene.client.events({ sessionID }))
    if (event.type === "session.next.permission.asked.1") break
  const [request] = (await permissions.list()).items
  await permissions.reply({ requestID: request?.id ?? "", reply: "always" })
  await sessions.wait({ sessionID })
  const { items } = await permissions.saved()
  expect(items).toMatchObject([{ project: scene.directory, action: "edit", resource: "note.txt", sessionID }])
  const id = items[0]?.id ?? ""
  await permissions.revoke({ id })
  expect((await permissions.saved()).items).toEqual([])
  await expect(permissions.revoke({ id })).rejects.toMatchObject({ code: "APPROVAL_NOT_FOUND", status: 404 })
})

test("a compaction leaves a receipt, and the session can go back behind it", async () => {
  await using scene = await openHttpScene()
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  for (let turn = 0; turn < 4; turn += 1) {
    await sessions.prompt({ sessionID, prompt: { text: `turn ${turn} ${"word ".repeat(4_000)}` } })
    await sessions.wait({ sessionID })
  }
  const { receipt } = await sessions.compact({ sessionID })
  expect(receipt).toMatchObject({ status: "ended", reason: "manual", inForce: true })
  expect((await sessions.receipts({ sessionID })).items).toEqual([receipt])
  await sessions.restore({ sessionID })
  expect((await sessions.receipts({ sessionID })).items).toEqual([{ ...receipt, inForce: false }])
  await expect(sessions.restore({ sessionID, compactionID: "none" })).rejects.toMatchObject({
    code: "CHECKPOINT_NOT_FOUND",
  })
})

test("a fork has the history and continues separately, with its own id", async () => {
  await using scene = await openHttpScene([{ text: "one" }, { text: "two" }])
  const sessionID = await openSession(scene)
  const { sessions } = scene.client
  await sessions.prompt({ sessionID, prompt: { text: "hi" } })
  await sessions.wait({ sessionID })
  const fork = await sessions.fork({ sessionID, id: "ses_fork" })
  expect(await sessions.fork({ sessionID, id: "ses_fork" })).toEqual(fork)
  await sessions.prompt({ sessionID: fork.id, prompt: { text: "and then?" } })
  await sessions.wait({ sessionID: fork.id })
  const texts = async (id: string) =>
    (await sessions.messages({ sessionID: id })).items.filter(({ type }) => type === "assistant").length
  expect([await texts(sessionID), await texts(fork.id)]).toEqual([1, 2])
  await openSession(scene, "ses_2")
  await expect(sessions.fork({ sessionID: "ses_2", id: sessionID })).rejects.toMatchObject({
    code: "SESSION_EXISTS",
    status: 409,
  })
})

test("pages follow each other without a gap, and a foreign cursor is refused", async () => {
  await using scene = await openHttpScene()
  for (const id of ["a", "b", "c"]) await openSession(scene, id)
  const { sessions } = scene.client
  const first = await sessions.list({ limit: 2 })
  const second = await sessions.list({ limit: 2, cursor: first.next ?? "" })
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(["a", "b", "c"])
  await expect(sessions.list({ cursor: "made up" })).rejects.toMatchObject({
    code: "INVALID_CURSOR",
    status: 400,
  })
})

test("models and agents are listed without their keys", async () => {
  await using scene = await openHttpScene([], {
    engine: {
      models: [
        {
          id: "house/big",
          provider: "openai-compatible",
          baseURL: "http://127.0.0.1:9/v1",
          apiKey: "secret-key",
          contextWindow: 1_000,
          maxOutput: 100,
        },
      ],
      agents: [
        { name: "reviewer", prompt: "Review.", model: "house/big" },
        { name: "helper", mode: "sub" },
        { name: "secret", hidden: true },
      ],
    },
  })
  const { server } = scene.client
  expect((await server.models()).items).toEqual([
    { id: "house/big", provider: "openai-compatible", contextWindow: 1_000, maxOutput: 100, isDefault: true },
  ])
  expect((await server.agents()).items).toEqual([
    { name: "build", description: "Works on the project with every tool it may use." },
    { name: "plan", description: "Studies the code and proposes a plan; changes nothing." },
    { name: "reviewer", model: "house/big" },
  ])
})

test.each([
  ["nothing", {}, "`location` is missing."],
  [
    "a relative directory",
    { location: { directory: "here" } },
    "`location.directory` must be an absolute path, not text",
  ],
  ["no directory", { location: {} }, "`location.directory` is missing."],
  [
    "a misspelt field",
    { location: { directory: "/" }, titel: "x" },
    "`titel` is not known here (did you mean `title`?).",
  ],
  [
    "a number for a text",
    { location: { directory: 1 } },
    "`location.directory` must be text of at most 4096 characters, not a number.",
  ],
  ["a list", [], "The body must be a JSON object."],
  [
    "an id that no address can hold",
    { id: "..", location: { directory: "/" } },
    '`id` must be an id other than `.` and `..`, not "..".',
  ],
  [
    "a title without end",
    { title: "x".repeat(301), location: { directory: "/" } },
    "`title` must be text of at most 300 characters, not text of 301 characters.",
  ],
  [
    "a directory with a zero byte",
    { location: { directory: "/\0" } },
    "`location.directory` must be an absolute path, not text",
  ],
])("a session is not created from %s", async (_name, body, says) => {
  await using scene = await openHttpScene()
  const response = await scene.ask("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    error: {
      code: "INVALID_INPUT",
      message: expect.stringContaining(says),
      next: "correct the request and send it again.",
    },
  })
  expect((await scene.client.sessions.list()).items).toEqual([])
})

test.each([
  ["/api/session?limit=0", "`limit` must be a whole number from 1 to 200, not 0"],
  ["/api/session?limit=201", "`limit` must be a whole number from 1 to 200, not 201"],
  ["/api/session?limit=many", "`limit` must be a whole number from 1 to 200, not text"],
  ["/api/session?order=up", "`order` must be one of asc, desc"],
  ["/api/session?limit=1&limit=2", "`limit` is given twice"],
  ["/api/session?__proto__=1", "`__proto__` is not known here"],
])("%s is refused by name", async (path, says) => {
  await using scene = await openHttpScene()
  const response = await scene.ask(path)
  expect(response.status).toBe(400)
  expect(await response.text()).toContain(says)
})

test("an id with any allowed characters works in an address", async () => {
  await using scene = await openHttpScene()
  const id = "a/b:c@d+e.f-ä_日"
  await openSession(scene, id)
  expect((await scene.client.sessions.get({ sessionID: id })).id).toBe(id)
})

verifies("http.no-init", async () => {
  await using scene = await openHttpScene()
  await openSession(scene)
  for (const path of ["/session/ses_1/init", "/api/session/ses_1/init"])
    expect(await failureIn(scene.ask(path, { method: "POST" }))).toEqual([404, "ROUTE_NOT_FOUND"])
})

test.each([
  [{ mediaType: "image/png", base64: "!!!" }, '`prompt.files.0.base64` must be base64, not "!!!"'],
  [
    { mediaType: "png", base64: "AAAA" },
    '`prompt.files.0.mediaType` must be a media type such as image/png, not "png"',
  ],
])("a prompt with the file %j is refused before it is admitted", async (file, says) => {
  await using scene = await openHttpScene()
  const sessionID = await openSession(scene)
  await expect(
    scene.client.sessions.prompt({ sessionID, prompt: { text: "look", files: [file] } }),
  ).rejects.toMatchObject({ code: "INVALID_INPUT", message: `${says}.` })
  expect((await scene.client.sessions.get({ sessionID })).seq).toBe(1)
})

test("input of a client is repeated in one short line", async () => {
  await using scene = await openHttpScene()
  await openSession(scene)
  const model = `\u001b[31m\u202e\r\nset-cookie: x ${"y".repeat(100)}`
  await expect(scene.client.sessions.switchModel({ sessionID: "ses_1", model })).rejects.toMatchObject({
    message: `Model ⟨U+202E⟩ set-cookie: x ${"y".repeat(100)} is not configured.`,
  })
  const long = await scene.client.sessions
    .get({ sessionID: "z".repeat(7_000) })
    .catch((cause: unknown) => cause)
  expect(long).toMatchObject({ message: `Session ${"z".repeat(999)}… does not exist.` })
})

test("an address that knows another method says which", async () => {
  await using scene = await openHttpScene()
  const response = await scene.ask("/api/session", { method: "DELETE" })
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, GET, HEAD"])
})

test("sessions survive a restart of the server, and so does its token", async () => {
  await using scene = await openHttpScene()
  const sessionID = await openSession(scene)
  const { token } = scene.server
  const before = await scene.client.sessions.get({ sessionID })
  await scene.restart()
  expect(scene.server.token).toBe(token)
  expect(await scene.client.sessions.get({ sessionID })).toEqual(before)
})

test("a failure inside the server names none of its files; its log does", async () => {
  await using scene = await openHttpScene()
  const folder = join(scene.stateRoot, ".spaces/s1")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "space.json"), "not json")
  const damaged = await (await scene.ask("/api/space/s1")).text()
  mkdirSync(join(scene.stateRoot, ".spaces/s2/space.json"), { recursive: true })
  const broken = await (await scene.ask("/api/space/s2")).text()
  expect(damaged).toContain("SPACE_DAMAGED")
  for (const text of [damaged, broken]) expect(text).not.toContain(scene.base)
})

test("every answer of the contract fits its documented shape", async () => {
  const seen = new Set<string>()
  const misfits: string[] = []
  const routes = Object.values(CONTRACT).flatMap((group) => Object.values<Route>(group))
  const check = async (response: Response, method: string, url: string): Promise<Response> => {
    const path = new URL(url).pathname
    const route = routes.find(
      (each) =>
        each.method === method && new RegExp(`^${each.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path),
    )
    if (route?.answer === undefined || !response.ok) return response
    const { errors } = new Validator({ ...jsonSchema(route.answer) }, "2020-12").validate(
      await response.clone().json(),
    )
    seen.add(route.path)
    misfits.push(...errors.map((error) => `${route.path} ${error.instanceLocation} ${error.error}`))
    return response
  }
  await using scene = await openHttpScene(
    [
      {
        reasoning: "let me see",
        text: "I look",
        tools: [
          { name: "read", input: { path: "a.txt" } },
          { name: "read", input: { path: "no.txt" } },
        ],
      },
      { text: "seen" },
    ],
    {},
    async (input, init) => check(await fetch(input, init), init?.method ?? "GET", addressOf(input)),
  )
  writeFileSync(join(scene.directory, "a.txt"), "content")
  const { sessions, server, permissions, questions, spaces } = scene.client
  const sessionID = await openSession(scene)
  await sessions.prompt({ sessionID, prompt: { text: "look", files: [PIXEL] } })
  await sessions.run({ sessionID })
  await sessions.compact({ sessionID })
  await sessions.setBudget({ sessionID, maxCost: 5, maxTurns: 1_000 })
  await sessions.budget({ sessionID })
  await sessions.stays({ sessionID })
  await sessions.switchModel({ sessionID, model: "fake/one" })
  const { items } = await sessions.messages({ sessionID })
  await sessions.message({ sessionID, messageID: items[0]?.id ?? "" })
  await sessions.files({ sessionID, at: "1" })
  await sessions.undo({ sessionID })
  await sessions.redo({ sessionID })
  const { id } = await sessions.prompt({ sessionID, prompt: { text: "later" }, resume: false })
  await sessions.inputs({ sessionID })
  await sessions.fork({ sessionID })
  await sessions.cancel({ sessionID, inputID: id })
  await Promise.all([
    server.health(),
    server.models(),
    server.agents(),
    server.directories(),
    sessions.list(),
    sessions.get({ sessionID }),
    sessions.wait({ sessionID }),
    sessions.receipts({ sessionID }),
    sessions.permissions({ sessionID }),
    sessions.questions({ sessionID }),
    sessions.children({ sessionID }),
    sessions.search({ sessionID, words: "look" }),
    sessions.commands({ sessionID }),
    sessions.synthetic({ sessionID, text: "a note" }),
    permissions.list(),
    questions.list(),
    permissions.saved(),
    spaces.list(),
  ])
  expect(misfits).toEqual([])
  expect(items.map(({ type }) => type)).toContain("assistant")
  const withAnswer = routes.filter((route) => route.answer !== undefined).map((route) => route.path)
  // A cluster needs a server.
  const elsewhere = (path: string): boolean => path.startsWith("/api/space/") || path === "/api/cluster"
  expect(withAnswer.filter((path) => !seen.has(path) && !elsewhere(path))).toEqual([])
})

const addressOf = (input: string | URL | Request): string =>
  input instanceof Request ? input.url : input.toString()

const PIXEL = { mediaType: "image/png", base64: "iVBORw0KGgo=", name: "pixel.png" }

test("a prompt over HTTP includes what it names, unless its text should be taken literally", async () => {
  await using scene = await openHttpScene([{ text: "seen" }, { text: "seen" }])
  writeFileSync(join(scene.directory, "a.txt"), "content")
  const { sessions } = scene.client
  const sessionID = await openSession(scene)
  const { prompt } = await sessions.prompt({ sessionID, prompt: { text: "see @a.txt and @b.txt" } })
  expect(prompt.parts).toMatchObject([
    { type: "text", name: "a.txt", text: "content", bytes: 7 },
    { type: "unreadable", source: "@b.txt" },
  ])
  const literal = await sessions.prompt({ sessionID, prompt: { text: "see @a.txt" }, expand: false })
  expect(literal.prompt).toEqual({ text: "see @a.txt" })
  await sessions.wait({ sessionID })
})

test("a server that stops answers waiting callers, and the session continues when it is run again", async () => {
  const working = gate()
  await using scene = await openHttpScene([
    async () => {
      await working.pass()
      return { text: "too late" }
    },
    { text: "after all" },
  ])
  const sessionID = await openSession(scene)
  await scene.client.sessions.prompt({ sessionID, prompt: { text: "go" } })
  await working.reached
  const waiting = scene.client.sessions.wait({ sessionID }).catch((cause: unknown) => cause)
  await scene.client.sessions.get({ sessionID })
  await scene.restart()
  expect(await waiting).toMatchObject({ code: "ENGINE_CLOSED", status: 503 })
  working.open()
  await scene.client.sessions.run({ sessionID })
  const { items } = await scene.client.sessions.messages({ sessionID, order: "desc", limit: 1 })
  expect(items).toMatchObject([{ type: "assistant", content: [{ type: "text", text: "after all" }] }])
})

test("a taken or invalid port is reported, and so is an empty host", async () => {
  await using scene = await openHttpScene()
  await expect(openHttpScene([], { host: "" })).rejects.toMatchObject({ code: "INVALID_INPUT" })
  await expect(openHttpScene([], { port: 65_536 })).rejects.toMatchObject({ code: "INVALID_INPUT" })
  await expect(openHttpScene([], { port: scene.server.port })).rejects.toMatchObject({
    code: "PORT_UNAVAILABLE",
  })
})
