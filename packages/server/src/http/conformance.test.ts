/**
 * Checks that the OpenAPI document is accurate: every operation is called in good and bad ways, and every answer must be
 * documented.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Validator } from "@cfworker/json-schema"
import { isJsonObject, type Json, type JsonObject } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openHttpScene, type HttpScene } from "../../../../test/http-scene.ts"
import { writeSpace } from "../../../../test/page/page-data.ts"

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly document: JsonObject
}

interface Asked {
  readonly path: string
  readonly body?: string
  readonly type?: string
}

const ODD: readonly Json[] = [
  null,
  0,
  -1,
  1.5,
  "",
  "x",
  "x".repeat(5_000),
  "a\r\nb\u0000\u202e",
  true,
  [],
  {},
  [{}],
]

/** A body that each POST accepts, so that both sides of every operation are seen. */
const GOOD: Readonly<Record<string, (scene: HttpScene) => JsonObject>> = {
  "sessions.create": ({ directory }) => ({ location: { directory }, title: "a title", agent: "plan" }),
  "sessions.prompt": () => ({ prompt: { text: "hello" }, resume: false }),
  "sessions.run": () => ({ timeoutSecs: 5 }),
  "sessions.wait": () => ({ timeoutSecs: 5 }),
  "sessions.move": ({ directory }) => ({ location: { directory } }),
  "sessions.rename": () => ({ title: "another title" }),
  "sessions.archive": () => ({ archived: true }),
  "sessions.setBudget": () => ({ maxCost: 5 }),
  "sessions.switchAgent": () => ({ agent: "build" }),
  "sessions.switchModel": () => ({ model: "fake/one" }),
  "permissions.reply": () => ({ reply: "once" }),
}

const PLACES: Readonly<Record<string, readonly string[]>> = {
  sessionID: ["ses_1", "nobody", "a\r\nb", "x".repeat(3_000)],
  messageID: ["msg_1", "nobody"],
  inputID: ["msg_1", "nobody"],
  requestID: ["nobody"],
  id: ["apr_0"],
  spaceID: ["s1", "s2", "../s1"],
  runID: ["r1", "r9", "../r1"],
  chatID: ["c1", "c9", "../c1"],
}

const operationsOf = (document: JsonObject): readonly Operation[] =>
  Object.entries(object(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(object(methods)).map(([method, each]) => ({
      id: words(object(each)["operationId"]),
      method: method.toUpperCase(),
      path,
      document: object(each),
    })),
  )

/** The template with every combination of known, unknown and impossible names. The first one exists. */
const pathsOf = (template: string): readonly string[] => {
  const name = /\{(\w+)\}/.exec(template)?.[1]
  if (name === undefined) return [template]
  return (PLACES[name] ?? []).flatMap((value) =>
    pathsOf(template.replace(`{${name}}`, encodeURIComponent(value))),
  )
}

const requestsOf = (operation: Operation, scene: HttpScene): readonly Asked[] => {
  const paths = pathsOf(operation.path)
  const [here = ""] = paths
  if (operation.method !== "POST") return [...paths.map((path) => ({ path })), ...queriesOf(operation, here)]
  const good = GOOD[operation.id]?.(scene) ?? {}
  const type = "application/json"
  const send = (body: Json): Asked => ({ path: here, body: JSON.stringify(body), type })
  const properties = ["content", "application/json", "schema", "properties"].reduce<JsonObject>(
    (value, key) => object(value[key]),
    object(operation.document["requestBody"]),
  )
  return [
    ...paths.map((path) => ({ path, body: JSON.stringify(good), type })),
    { path: here },
    { path: here, body: "{", type },
    { path: here, body: JSON.stringify(good), type: "text/plain" },
    ...ODD.map(send),
    send({ ...good, unheard: 1 }),
    ...Object.keys(properties).flatMap((name) => ODD.map((value) => send({ ...good, [name]: value }))),
  ]
}

const queriesOf = (operation: Operation, path: string): readonly Asked[] => {
  const parameters = operation.document["parameters"]
  const names = (Array.isArray(parameters) ? parameters : []).flatMap((each: Json) =>
    object(each)["in"] === "query" ? [words(object(each)["name"])] : [],
  )
  return ["unheard", ...names].flatMap((name) =>
    ["", "0", "1", "201", "-1", "NaN", "1e9", "true", "asc", "x".repeat(9_000), "%zz", "%00"].map(
      (value) => ({
        path: `${path}?${name}=${value}`,
      }),
    ),
  )
}

const object = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
const words = (value: Json | undefined): string => (typeof value === "string" ? value : "")

test("every answer of every operation has a status and a shape that the OpenAPI document contains", async () => {
  await using scene = await openHttpScene([
    { text: "I look", tools: [{ name: "read", input: { path: "a.txt" } }] },
    { text: "seen" },
  ])
  await makeState(scene)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server answers is JSON
  const document = (await (await scene.ask("/openapi.json")).json()) as JsonObject
  // The last operation deletes the session that all of them use.
  const isLast = ({ id }: Operation): number => Number(id === "sessions.delete")
  const operations = operationsOf(document).toSorted((left, right) => isLast(left) - isLast(right))
  const problems: string[] = []
  const statuses = new Map<string, Set<number>>()
  for (const operation of operations) {
    const seen = new Set<number>()
    statuses.set(operation.id, seen)
    for (const asked of requestsOf(operation, scene)) {
      const response = await scene.ask(asked.path, {
        method: operation.method,
        ...(asked.body === undefined ? {} : { body: asked.body }),
        headers: asked.type === undefined ? {} : { "content-type": asked.type },
      })
      seen.add(response.status)
      const told = object(object(operation.document["responses"])[String(response.status)])
      const problem = await misfit(response, told, document)
      if (problem !== undefined)
        problems.push(`${operation.id} ${asked.path.slice(0, 80)} ${asked.body?.slice(0, 80)}: ${problem}`)
    }
  }
  expect(problems).toEqual([])
  expect(scene.lines).toEqual([])
  // These need something that earlier requests have used up, a repository or a server. They have separate tests.
  const succeeded = [...statuses].filter(([, seen]) => [...seen].some((status) => status < 300))
  expect(operations.map(({ id }) => id).filter((id) => !succeeded.some(([name]) => name === id))).toEqual([
    "server.cluster",
    "sessions.cancel",
    "questions.reply",
    "permissions.reply",
    "permissions.revoke",
    "spaces.diff",
    "spaces.apply",
    "spaces.discard",
    "spaces.send",
    "spaces.resume",
    "spaces.continue",
  ])
}, 60_000)

/** Every address with its documented methods. */
const addressesOf = async (scene: HttpScene): Promise<readonly (readonly [string, readonly string[]])[]> => {
  await makeState(scene)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server answers is JSON
  const document = (await (await scene.ask("/openapi.json")).json()) as JsonObject
  const byPath = Map.groupBy(operationsOf(document), ({ path }) => path)
  return [
    ["/openapi.json", ["GET"]],
    ...[...byPath].map(([path, each]) => [pathsOf(path)[0] ?? "", each.map(({ method }) => method)] as const),
  ]
}

test("what answers GET answers HEAD, without a body", async () => {
  await using scene = await openHttpScene()
  for (const [path, methods] of await addressesOf(scene)) {
    if (!methods.includes("GET")) continue
    const asked = path.endsWith("/search") ? `${path}?words=found` : path
    const response = await scene.ask(asked, { method: "HEAD" })
    const status = UNANSWERED.get(path.split("/").at(-1) ?? "") ?? 200
    expect([path, response.status, await response.text()]).toEqual([path, status, ""])
  }
})

test("a method that an address does not answer is refused with those that it does", async () => {
  await using scene = await openHttpScene()
  for (const [path, methods] of await addressesOf(scene)) {
    const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      if (allowed.includes(method)) continue
      const response = await scene.ask(path, { method })
      expect([path, method, response.status]).toEqual([path, method, 405])
      expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual(allowed.toSorted())
    }
  }
})

/** The run of this scene has no worktree, and its database is a file. */
const UNANSWERED = new Map([
  ["diff", 409],
  ["cluster", 400],
])

/** A session that has answered and has one more input waiting; a complete space with a run, and a damaged one. */
const makeState = async (scene: HttpScene): Promise<void> => {
  const { sessions } = scene.client
  writeFileSync(join(scene.directory, "a.txt"), "content")
  await sessions.create({ id: "ses_1", location: { directory: scene.directory } })
  await sessions.prompt({ sessionID: "ses_1", id: "msg_1", prompt: { text: "look" } })
  await sessions.wait({ sessionID: "ses_1" })
  await sessions.prompt({ sessionID: "ses_1", id: "msg_2", prompt: { text: "later" }, resume: false })
  await writeSpace(scene)
  const spaces = join(scene.stateRoot, ".spaces")
  mkdirSync(join(spaces, "s2"), { recursive: true })
  writeFileSync(join(spaces, "s2/space.json"), "{")
}

const misfit = async (
  response: Response,
  told: JsonObject,
  document: JsonObject,
): Promise<string | undefined> => {
  if (told["description"] === undefined) return `${response.status} is not told: ${await response.text()}`
  const content = object(told["content"])
  const [type] = Object.keys(content)
  if (type === "text/event-stream") {
    await response.body?.cancel()
    return undefined
  }
  const text = await response.text()
  if (type === undefined) return text === "" ? undefined : "a body that is not told"
  const schema = object(object(content[type])["schema"])
  const value: unknown = JSON.parse(text)
  const { errors } = new Validator(
    structuredClone({ ...schema, components: document["components"] ?? null }),
    "2020-12",
  ).validate(value)
  if (errors.length > 0) return errors.map(({ error }) => error).join("; ")
  const code = /"code":"(\w+)"/.exec(text)?.[1]
  if (
    response.ok ||
    words(told["description"])
      .split(", ")
      .includes(code ?? "")
  )
    return undefined
  return `${code} is not told`
}
