/** An imported conversation is served completely, however deep the inputs of its calls. */
import { join } from "node:path"

import { openEngine } from "@meridian/engine"
import type { Json } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openHttpScene } from "../http-scene.ts"
import { openSse } from "../read-sse.ts"

test("every event of deep calls comes through the stream, and every message through its page", async () => {
  await using scene = await openHttpScene()
  const nested = (levels: number): Json => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`)
  const engine = await openEngine({
    database: join(scene.stateRoot, "engine.sqlite"),
    models: [],
    recover: false,
  })
  const { session } = await engine.sessions.import({
    location: { directory: scene.directory },
    source: { format: "claude", id: "deep", digest: "d" },
    history: [
      { kind: "prompt", prompt: { text: "go" } },
      { kind: "call", turn: "1", callID: "a", tool: "read", input: nested(500) },
      { kind: "call", turn: "1", callID: "b", tool: "read", input: nested(6_000) },
      { kind: "text", turn: "2", text: "the last words" },
    ],
  })
  await engine.close()
  const { url, token } = scene.server
  await using reader = await openSse(`${url}/api/session/${session.id}/event?after=0`, {
    authorization: `Bearer ${token}`,
  })
  const frames = await reader.until(({ data }) => data?.includes("the last words") === true)
  expect(frames.filter(({ data }) => data?.includes("tool.called") === true)).toHaveLength(2)
  const page = await scene.ask(`/api/session/${session.id}/message`)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("the last words")])
})
