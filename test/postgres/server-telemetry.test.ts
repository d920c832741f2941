/**
 * What a node reports to collectors and `/metrics` about the database it shares. Here: two servers, one of them killed
 * during a tool call.
 */
import { setTimeout as delay } from "node:timers/promises"

import { createClient } from "@meridian/server/client"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { beforeAll, expect } from "vitest"

import { directScene } from "../direct-scene.ts"
import { startServer, type ServerProcess } from "../e2e/server-process.ts"
import { startCollector } from "../fake-collector.ts"
import { verifies } from "../verifies.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

const metricsOf = async ({ url, token }: ServerProcess): Promise<string> =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()

verifies("cluster.telemetry", async () => {
  const collector = await startCollector()
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: "sleep 600", description: "wait" } }] },
      { text: "told by the second" },
    ],
  })
  const env = {
    ...scene.env,
    MERIDIAN_DATABASE: `${server}?schema=telemetry`,
    MERIDIAN_HTTP_TOKEN: "the-token-of-this-cluster",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  }
  const start = (...args: readonly string[]) =>
    startServer(scene.project, ["--port", "0", "--permission", "full-access", ...args], env)
  const first = await start()
  const sessionID = "ses_one"
  const { sessions } = createClient({ url: first.url, token: first.token })
  await sessions.create({ id: sessionID, location: { directory: scene.project } })
  await sessions.prompt({ sessionID, prompt: { text: "hello" } })
  const second = await start()
  const there = createClient({ url: second.url, token: second.token })
  while (!(await there.sessions.messages({ sessionID })).items.some((each) => each.type === "assistant"))
    await delay(50)
  // No node has its workspace, so it waits.
  await there.sessions.create({ id: "ses_lost", location: { directory: "app", workspace: "elsewhere" } })
  await there.sessions.prompt({ sessionID: "ses_lost", prompt: { text: "hello" } })
  await first.end("SIGKILL")
  await collector.until((spans) => spans.some(({ name }) => name === "session.recover"))
  await there.sessions.prompt({ sessionID, prompt: { text: "go on" } })
  await there.sessions.wait({ sessionID })
  await collector.until((spans) => spans.some(({ name }) => name === "invoke_agent build"))
  const spans = collector.spans()
  const claims = spans.filter(({ name }) => name === "lease.claim")
  expect(claims.map(({ attributes }) => attributes["meridian.lease.taken_over"])).toContain(true)
  const recovery = spans.find(({ name }) => name === "session.recover")
  const call = spans.find(({ name }) => name === "execute_tool bash")
  expect(recovery?.traceId).toBe(call?.traceId)
  const appends = spans.filter(({ name }) => name === "store.append")
  expect(appends.length).toBeGreaterThan(0)
  expect(appends.every(({ parentSpanId }) => parentSpanId !== undefined)).toBe(true)

  let text = ""
  while (!/meridian_sessions_waiting 1\n/.test(text)) {
    await delay(50)
    text = await metricsOf(second)
  }
  expect(text).toMatch(/meridian_append_duration_seconds_count\{outcome="stored"\} [1-9]/)
  expect(text).toMatch(/meridian_append_group_count [1-9]/)
  expect(text).toMatch(/meridian_lease_claims_total\{taken_over="true"\} 1\n/)
  expect(text).toMatch(/meridian_hint_delay_seconds_count [1-9]/)
  expect(text).toMatch(/# TYPE meridian_node_beat_age_seconds gauge\nmeridian_node_beat_age_seconds \d/)
  expect(text).toMatch(/meridian_node_places 200\n/)
  expect(text).toMatch(/meridian_sessions_waiting_age_seconds \d/)
  expect(text).toContain("# TYPE meridian_lease_losses_total counter")
  await second.end("SIGKILL")
})
