/** The rows of the parity table (seed 004) that no other file proves: the parts of a request. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { openEngineScene, scriptedModel, tool, type EngineScene } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const ask = async ({ engine, session }: EngineScene, prompt: object = {}): Promise<void> => {
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "go", ...prompt } })
  await engine.sessions.wait(session.id)
}

const systemText = ({ requests }: EngineScene): string =>
  (requests.at(-1)?.prompt ?? [])
    .flatMap((message) => (message.role === "system" ? [message.content] : []))
    .join("\n")

verifies("parity.environment", async () => {
  await using scene = await openEngineScene()
  await ask(scene)
  expect(systemText(scene)).toContain(scene.directory)
  expect(systemText(scene)).toContain(process.platform)
  expect(systemText(scene)).toMatch(/\b20\d\d\b/)
})

verifies("parity.lowering", async () => {
  const requests: EngineScene["requests"] = []
  await using scene = await openEngineScene([{ text: "first" }, { text: "second" }], {
    models: [
      scriptedModel([], [], { id: "fake/other" }),
      scriptedModel([{ text: "first" }, { text: "second" }], requests),
    ],
    model: "fake/one",
  })
  await ask(scene)
  await ask(scene, { text: "and then" })
  const history = requests.at(-1)?.prompt.filter(({ role }) => role !== "system")
  expect(history).toEqual([
    { role: "user", content: [{ type: "text", text: "go" }] },
    { role: "assistant", content: [{ type: "text", text: "first" }] },
    { role: "user", content: [{ type: "text", text: "and then" }] },
  ])
})

verifies("parity.agent", async () => {
  await using scene = await openEngineScene([], {
    agents: [{ name: "poet", prompt: "You rhyme.", model: "fake/one" }],
  })
  await scene.engine.sessions.switchAgent({ sessionID: scene.session.id, agent: "poet" })
  await ask(scene)
  expect(scene.requests[0]?.prompt[0]).toEqual({ role: "system", content: "You rhyme." })
})

verifies("parity.tools", async () => {
  await using scene = await openEngineScene([], {
    permissions: [
      { action: "*", resource: "*", effect: "allow" },
      { action: "secret", resource: "*", effect: "deny" },
      { action: "edit", resource: "*", effect: "deny" },
    ],
    tools: [tool("open", () => "yes"), tool("secret", () => "no")],
  })
  await ask(scene)
  const offered = scene.requests[0]?.tools.map(({ name }) => name)
  expect(offered).toContain("open")
  expect(offered).toEqual(
    offered?.filter((name) => !["secret", "edit", "write", "apply_patch"].includes(name)),
  )
})

verifies("parity.attachments", async () => {
  await using scene = await openEngineScene()
  const file = { mediaType: "image/png", base64: "iVBORw0KGgo=", name: "dot.png" }
  await ask(scene, { files: [file] })
  const { sessions } = await scene.reopen()
  const { items } = await sessions.messages({ sessionID: scene.session.id })
  expect(items[0]).toMatchObject({ type: "user", text: "go", files: [file] })
  expect(scene.requests[0]?.prompt.at(-1)).toEqual({
    role: "user",
    content: [
      { type: "text", text: "go" },
      {
        type: "file",
        data: { type: "data", data: file.base64 },
        mediaType: file.mediaType,
        filename: "dot.png",
      },
    ],
  })
})

verifies("parity.configured-references", async () => {
  await using scene = await openEngineScene(
    [{ tools: [{ name: "read", input: { path: "engine-parity.test.ts", reference: "library" } }] }],
    { references: [{ name: "library", path: import.meta.dirname, description: "how it is done" }] },
  )
  await ask(scene)
  expect(systemText(scene)).toContain("library")
  expect(systemText(scene)).toContain("how it is done")
  expect(JSON.stringify(scene.requests.at(-1)?.prompt.at(-1))).toContain("The rows of the parity table")
})

verifies("parity.compaction", async () => {
  const long = "lorem ipsum dolor sit amet ".repeat(60)
  const requests: EngineScene["requests"] = []
  const answers = Array.from({ length: 40 }, () => ({ text: long }))
  await using scene = await openEngineScene([], {
    models: [scriptedModel(answers, requests, { contextWindow: 6_000, maxOutput: 500 })],
    compaction: { keepTokens: 1 },
  })
  writeFileSync(join(scene.directory, "AGENTS.md"), "use tabs")
  const { sessions } = scene.engine
  for (let turn = 0; turn < 20 && (await sessions.receipts(scene.session.id)).length === 0; turn += 1)
    await ask(scene)
  const causes: string[] = []
  for await (const event of sessions.events({ sessionID: scene.session.id }))
    if (event.type === "session.next.epoch.started.1") causes.push(event.data.cause)
  expect(causes).toEqual(["first", "compaction"])
  expect(JSON.stringify(requests.at(-1)?.prompt)).toContain("<checkpoint>")
})
