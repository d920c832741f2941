/** What an audit of the public face once found: a move during a turn, and inputs that wait for a separate demand. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, test } from "vitest"

import { textOfRequest } from "../layout/draw.ts"
import { openScene } from "../layout/scene.ts"

test("a move during a turn gives the destination's own baseline, and nothing of the source", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "meridian-elsewhere-"))
  writeFileSync(join(elsewhere, "AGENTS.md"), "rules of the destination")
  const started = Promise.withResolvers<void>()
  const moved = Promise.withResolvers<void>()
  await using scene = await openScene(
    (_request, n) => (n === 1 ? { tools: [{ name: "pause", input: {} }] } : { text: "ok" }),
    {
      tools: [
        {
          name: "pause",
          description: "waits",
          input: { type: "object" },
          execute: async () => {
            started.resolve()
            await moved.promise
          },
        },
      ],
    },
  )
  writeFileSync(join(scene.directory, "AGENTS.md"), "rules of the source")
  const { engine, sessionID } = scene
  await engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  await started.promise
  await engine.sessions.move({ sessionID, location: { directory: elsewhere } })
  moved.resolve()
  await engine.sessions.wait(sessionID)
  const epochs = (await scene.events()).filter((event) => event.type === "session.next.epoch.started.1")
  expect(epochs).toHaveLength(2)
  expect(JSON.stringify(epochs[1])).toContain("rules of the destination")
  expect(JSON.stringify(epochs[1])).not.toContain("rules of the source")
  const last = scene.requests.at(-1)
  expect(last === undefined ? "" : textOfRequest(last)).not.toContain("rules of the source")
  rmSync(elsewhere, { recursive: true, force: true })
})

test.each(["steer", "queue"] as const)(
  "a %s admitted only, while a turn runs, waits for its own demand",
  async (delivery) => {
    const started = Promise.withResolvers<void>()
    const free = Promise.withResolvers<void>()
    await using scene = await openScene(
      (_request, n) => (n === 1 ? { tools: [{ name: "pause", input: {} }] } : { text: "ok" }),
      {
        tools: [
          {
            name: "pause",
            description: "waits",
            input: { type: "object" },
            execute: async () => {
              started.resolve()
              await free.promise
            },
          },
        ],
      },
    )
    const { engine, sessionID } = scene
    await engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
    await started.promise
    await engine.sessions.prompt({
      id: "msg_later",
      sessionID,
      prompt: { text: "later" },
      delivery,
      resume: false,
    })
    free.resolve()
    await engine.sessions.wait(sessionID)
    expect((await engine.sessions.inputs(sessionID)).map((input) => input.id)).toEqual(["msg_later"])
    await engine.sessions.wake(sessionID)
    await engine.sessions.wait(sessionID)
    expect(await engine.sessions.inputs(sessionID)).toEqual([])
  },
)

test("a source whose texts cannot be made is told as it is", async () => {
  let value = 1
  await using scene = await openScene(() => ({ text: "ok" }), {
    context: [
      {
        key: "test/broken",
        observe: () => value,
        baseline: () => {
          throw new Error("no words")
        },
      },
    ],
  })
  await scene.ask("one")
  value = 2
  await scene.ask("two")
  const last = scene.requests.at(-1)
  expect(last === undefined ? "" : textOfRequest(last)).toContain("test/broken: 2")
})
