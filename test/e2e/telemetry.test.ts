/** The collector ends with the log as spans, however often and from wherever it was sent. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test, vi } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"
import { orphans, startCollector, type CollectedSpan } from "../fake-collector.ts"
import { verifies } from "../verifies.ts"
import { BINARY, document, meridian } from "./cli-binary.ts"
import { startServer } from "./server-process.ts"

const PORT = ["--port", "0"]
const USAGE = { input: 100, output: 20, cacheRead: 30 }
const SPAWN = ["run", "spawn", "--harness", "direct", "--permission", "full-access", "-p"] as const

const script = [
  {
    text: "PRIVATE WORDS",
    tools: [{ name: "bash", input: { command: "echo PRIVATE OUTPUT" } }],
    usage: USAGE,
  },
  { tools: [{ name: "read", input: { path: "missing.txt" } }], usage: USAGE },
  { text: "Done.", usage: USAGE },
]

const shape = (spans: readonly CollectedSpan[]): readonly string[] => spans.map(({ name }) => name).sort()

const SHAPE = [
  "chat anthropic/claude-sonnet-4-6",
  "chat anthropic/claude-sonnet-4-6",
  "chat anthropic/claude-sonnet-4-6",
  "execute_tool bash",
  "execute_tool read",
  "invoke_agent build",
]

const identity = (spans: readonly CollectedSpan[]): readonly string[] =>
  spans
    .map(({ traceId, spanId, parentSpanId = "", name }) => [traceId, spanId, parentSpanId, name].join(" "))
    .sort()

const run = (scene: DirectScene, env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  meridian(args, { cwd: scene.project, env: { ...scene.env, ...env } })

verifies("telemetry.spans", async () => {
  const collector = await startCollector()
  const scene = await directScene({ script, env: { MERIDIAN_TELEMETRY_OTLP: collector.url } })
  const ran = await scene.run(...SPAWN, "PRIVATE PROMPT")
  expect([ran.code, ran.stdout]).toEqual([0, "Done.\n"])
  const spans = collector.spans()
  expect(shape(spans)).toEqual(SHAPE)
  expect(orphans(spans)).toEqual([])
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(collector.text()).not.toContain("PRIVATE")
  const stats = Object(document(await scene.run("run", "stats", "--space", "s1", "--json")))
  const root = spans.find(({ name }) => name === "invoke_agent build")
  expect(root?.attributes).toMatchObject({
    "gen_ai.usage.input_tokens": stats.input_tokens + stats.cached_input_tokens,
    "gen_ai.usage.output_tokens": stats.output_tokens,
    "meridian.turns": 3,
    "meridian.tool_failures": 1,
  })
  expect(root?.attributes["meridian.cost_usd"]).toBeCloseTo(stats.total_cost_usd ?? stats.cost_usd, 8)
  expect(spans.find(({ name }) => name === "execute_tool read")?.status.code).toBe(2)
  expect(collector.resources()[0]).toMatchObject({ "service.name": "meridian", "service.version": "0.1.0" })
  expect(collector.metrics()).toEqual(
    expect.arrayContaining([
      "meridian.turns",
      "meridian.tokens",
      "meridian.cost",
      "meridian.permission.wait",
      "meridian.retries",
      "meridian.tool.failures",
      "meridian.lease.losses",
      "meridian.flush.duration",
    ]),
  )
})

verifies("telemetry.same-again", async () => {
  const [first, second, third] = [await startCollector(), await startCollector(), await startCollector()]
  const scene = await directScene({ script })
  const to = (url: string) => ({ MERIDIAN_TELEMETRY_OTLP: url })
  await run(scene, to(first.url), ...SPAWN, "Go.")
  // A second process on the same database sends what its collector lacks. So does a third.
  for (const collector of [second, third]) {
    const server = await startServer(scene.project, PORT, { ...scene.env, ...to(collector.url) })
    await collector.until((spans) => spans.length >= SHAPE.length)
    await server.end("SIGTERM")
  }
  expect(identity(first.spans())).toHaveLength(SHAPE.length)
  expect(identity(second.spans())).toEqual(identity(first.spans()))
  expect(identity(third.spans())).toEqual(identity(first.spans()))
  // What was sent is not sent again.
  const before = first.sent().length
  const server = await startServer(scene.project, PORT, { ...scene.env, ...to(first.url) })
  await server.end("SIGTERM")
  expect(first.sent().length).toBe(before)
})

verifies("telemetry.after-a-kill", async () => {
  const collector = await startCollector()
  const env = { MERIDIAN_TELEMETRY_OTLP: collector.url }
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: "touch begun; sleep 60" } }], usage: USAGE },
      { text: "After." },
    ],
  })
  const child = spawn(
    process.execPath,
    [BINARY, "direct", "--headless", "--session", "ses_cut", "--permission", "full-access"],
    {
      cwd: scene.project,
      env: { ...scene.env, ...env },
      stdio: ["pipe", "ignore", "ignore"],
    },
  )
  child.stdin.end("Work.")
  await vi.waitUntil(() => existsSync(join(scene.project, "begun")), { timeout: 30_000 })
  const gone = once(child, "close")
  child.kill("SIGKILL")
  await gone
  // The collector is also down when the next process tries.
  collector.behave(503)
  const server = await startServer(scene.project, PORT, { ...scene.env, ...env })
  await vi.waitUntil(() => server.output().includes("Telemetry is not taken"), { timeout: 30_000 })
  collector.behave("take")
  await collector.until((spans) => spans.some(({ name }) => name === "invoke_agent build"))
  await server.end("SIGTERM")
  const spans = collector.spans()
  expect(shape(spans)).toEqual([
    "chat anthropic/claude-sonnet-4-6",
    "execute_tool bash",
    "invoke_agent build",
  ])
  expect(orphans(spans)).toEqual([])
  expect(spans.find(({ name }) => name === "invoke_agent build")?.attributes).toMatchObject({
    "meridian.interrupted": true,
  })
})

verifies("telemetry.bad-collector", async () => {
  const collector = await startCollector()
  const env = { MERIDIAN_TELEMETRY_OTLP: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: "500" }
  const scene = await directScene({
    script: [...script, { text: "Second." }, { text: "Third." }, { text: "Fourth." }],
  })
  for (const how of ["hang", "refuse", 503] as const) {
    collector.behave(how)
    const ran = await run(scene, env, ...SPAWN, `While it does ${how}.`)
    expect([ran.code, collector.sent().length]).toEqual([0, 0])
  }
  collector.behave("take")
  expect((await run(scene, env, ...SPAWN, "It is back.")).code).toBe(0)
  const spans = collector.spans()
  expect(spans.filter(({ name }) => name === "invoke_agent build")).toHaveLength(4)
  expect(orphans(spans)).toEqual([])
})

test("a collector that finds the data wrong is told about, and does not stop the next", async () => {
  const collector = await startCollector()
  const scene = await directScene({
    script: [{ text: "One." }, { text: "Two." }],
    env: { MERIDIAN_TELEMETRY_OTLP: collector.url },
  })
  collector.behave(400)
  const direct = (session: string) =>
    meridian(["direct", "--headless", "--session", session], {
      cwd: scene.project,
      env: scene.env,
      input: "Go.",
    })
  const refused = await direct("ses_one")
  expect([refused.code, refused.stderr]).toEqual([
    0,
    expect.stringContaining("Telemetry was refused and is left out: the collector answered 400."),
  ])
  collector.behave("take")
  await direct("ses_two")
  expect(collector.spans().map(({ attributes }) => attributes["gen_ai.conversation.id"])).toEqual([
    "ses_two",
    "ses_two",
  ])
})

test("a collector that takes only a little at once gets all of it", async () => {
  const collector = await startCollector()
  collector.behave("one span at once")
  const scene = await directScene({ script, env: { MERIDIAN_TELEMETRY_OTLP: collector.url } })
  expect((await scene.run(...SPAWN, "Go.")).code).toBe(0)
  expect(shape(collector.spans())).toEqual(SHAPE)
  expect(orphans(collector.spans())).toEqual([])
})

test("processes that count for themselves are told apart, unless the user names them", async () => {
  const collector = await startCollector()
  const scene = await directScene({ script: [{ text: "A." }, { text: "B." }, { text: "C." }] })
  const env = { MERIDIAN_TELEMETRY_OTLP: collector.url }
  await run(scene, env, ...SPAWN, "One.")
  await run(scene, env, ...SPAWN, "Two.")
  const names = () => [...new Set(collector.resources().map((resource) => resource["service.instance.id"]))]
  expect(names()).toEqual([expect.any(String), expect.any(String)])
  await run(scene, { ...env, OTEL_RESOURCE_ATTRIBUTES: "service.instance.id=mine" }, ...SPAWN, "Three.")
  expect(names()[2]).toBe("mine")
})

verifies("telemetry.settings", async () => {
  const collector = await startCollector()
  const scene = await directScene({
    script: [{ text: "A." }, { text: "B." }, { text: "C." }, { text: "D." }, { text: "E." }],
  })
  const otel = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
    OTEL_SERVICE_NAME: "mine",
    OTEL_RESOURCE_ATTRIBUTES: "team=blue,service.name=other",
  }
  await run(scene, otel, ...SPAWN, "By the usual variables.")
  expect(collector.resources()[0]).toMatchObject({ "service.name": "mine", team: "blue" })
  expect(collector.headers()[0]?.["x-key"]).toBe("a b")
  const sent = (): number => collector.sent().length
  let before = sent()
  await run(scene, { ...otel, OTEL_SDK_DISABLED: "true" }, ...SPAWN, "Switched off.")
  expect(sent()).toBe(before)
  const grpc = await run(scene, { ...otel, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, ...SPAWN, "gRPC.")
  expect(grpc.code).toBe(0)
  expect(sent()).toBe(before)
  // A project's file sends nothing unless the user trusts the folder. The user's own file does.
  writeFileSync(join(scene.project, ".meridian/config.toml"), `[telemetry]\notlp = "${collector.url}"\n`)
  await run(scene, {}, ...SPAWN, "By the project.")
  expect(sent()).toBe(before)
  const own = join(scene.env["HOME"] ?? "", ".config/meridian/config.toml")
  mkdirSync(dirname(own), { recursive: true })
  writeFileSync(own, `[telemetry]\notlp = "${collector.url}"\ncontent = true\n`)
  before = sent()
  await run(scene, {}, ...SPAWN, "PRIVATE but asked for.")
  expect(sent()).toBeGreaterThan(before)
  expect(collector.text()).toContain("PRIVATE but asked for.")
})

verifies("telemetry.metrics-page", async () => {
  const scene = await directScene({ script: [{ text: "Hello." }] })
  const server = await startServer(scene.project, PORT, scene.env)
  const get = (headers: Readonly<Record<string, string>>, method = "GET") =>
    fetch(`${server.url}/metrics`, { method, headers })
  const allowed = { authorization: `Bearer ${server.token}` }
  expect((await get({})).status).toBe(401)
  expect((await get({ authorization: "Bearer wrong" })).status).toBe(401)
  expect((await get(allowed, "POST")).status).toBe(405)
  const post = (path: string, body: unknown) =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { ...allowed, "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then((response) => response.json())
  const session = Object(await post("/api/session", { location: { directory: scene.project } }))
  await post(`/api/session/${session.id}/prompt`, { prompt: { text: "Hi" } })
  const line = await vi.waitUntil(
    async () => /meridian_turns_total\{[^}]*\} 1\n/.exec(await (await get(allowed)).text())?.[0],
    { timeout: 30_000, interval: 200 },
  )
  expect(line).toBe('meridian_turns_total{model="anthropic/claude-sonnet-4-6"} 1\n')
  const response = await get(allowed)
  const text = await response.text()
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
  for (const name of [
    "meridian_tokens_total",
    "meridian_cost_usd_total",
    "meridian_permission_wait_seconds",
    "meridian_retries_total",
    "meridian_tool_failures_total",
    "meridian_lease_losses_total",
    "meridian_flush_duration_seconds",
    "gen_ai_client_operation_duration_seconds",
  ])
    expect(text).toContain(`# TYPE ${name} `)
  expect(text).toMatch(/meridian_flush_duration_seconds_count [1-9]/)
  await server.end("SIGTERM")
})
