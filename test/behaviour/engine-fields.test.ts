/** Input of callers in the process is checked like input over HTTP. */
import { expect } from "vitest"

import { codeOf, openEngineScene } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

verifies("session.fields", async () => {
  await using scene = await openEngineScene()
  const { engine, session } = scene
  const sessionID = session.id
  const calls: readonly [name: keyof typeof engine.sessions, input: object][] = [
    ["create", { location: { directory: scene.directory } }],
    ["fork", { sessionID }],
    ["list", {}],
    ["prompt", { sessionID, prompt: { text: "x" } }],
    ["synthetic", { sessionID, text: "x" }],
    ["messages", { sessionID }],
    ["message", { sessionID, id: "msg_a" }],
    ["cancel", { sessionID, id: "msg_a" }],
    ["switchModel", { sessionID, model: "fake/one" }],
    ["switchAgent", { sessionID, agent: "plan" }],
    ["restore", { sessionID }],
    ["move", { sessionID, location: { directory: scene.directory } }],
    ["rename", { sessionID, title: "x" }],
    ["archive", { sessionID, archived: true }],
    ["search", { sessionID, words: "x" }],
    ["setBudget", { sessionID }],
  ]
  for (const [name, input] of calls) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a caller without types
    const verb = engine.sessions[name] as (given: object) => Promise<unknown>
    expect([name, await codeOf(verb({ ...input, nobodyKnowsThis: 1 }))]).toEqual([name, "INVALID_INPUT"])
  }
  const place = { directory: scene.directory, workspace: "shared" }
  // By its old name, too.
  const location = { directory: scene.directory, workspaceID: "shared" }
  const kept = await engine.sessions.create({ id: "ses_kept", location })
  expect(kept.location).toEqual(place)
  await scene.reopen()
  expect((await scene.engine.sessions.get("ses_kept")).location).toEqual(place)
})
