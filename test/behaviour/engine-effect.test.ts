/** The Effect face has the same verbs and settles everything when its scope closes. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { engineLayer, Permissions, Sessions } from "@meridian/engine/effect"
import { Effect, Stream } from "effect"
import { expect, test } from "vitest"

test("a session runs through the services, failures are typed, events are a stream", async () => {
  const directory = mkdtempSync(join(tmpdir(), "meridian-effect-"))
  const program = Effect.gen(function* () {
    const sessions = yield* Sessions
    const permissions = yield* Permissions
    const { id } = yield* sessions.create({ location: { directory } })
    yield* sessions.prompt({ sessionID: id, prompt: { text: "hello" } })
    yield* sessions.wait(id)
    const events = yield* Stream.runCollect(sessions.events({ sessionID: id }))
    const missing = yield* Effect.flip(sessions.get("ses_nowhere"))
    return { last: events.at(-1)?.type, missing: missing.code, open: yield* permissions.list() }
  })
  const layer = engineLayer({
    database: join(directory, "engine.sqlite"),
    models: [{ id: "a/one", provider: "scripted", contextWindow: 10_000, maxOutput: 100 }],
  })
  expect(await Effect.runPromise(Effect.provide(program, layer))).toEqual({
    last: "session.next.step.ended.2",
    missing: "SESSION_NOT_FOUND",
    open: [],
  })
  rmSync(directory, { recursive: true, force: true })
})
