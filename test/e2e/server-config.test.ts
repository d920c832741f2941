/** `meridian serve --http` uses the project's configuration: its agents and its model. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { createClient } from "@meridian/server/client"
import { expect, test } from "vitest"

import { emptyFolder } from "./cli-binary.ts"
import { startServer } from "./server-process.ts"

test("profiles of the project are agents, and direct.model is the model of a session that names none", async () => {
  const folder = emptyFolder("meridian-serve-")
  mkdirSync(join(folder, ".agents/agents"), { recursive: true })
  writeFileSync(
    join(folder, ".agents/agents/reviewer.md"),
    "---\nname: reviewer\ndescription: Reads.\n---\nReview it.\n",
  )
  mkdirSync(join(folder, ".meridian"))
  writeFileSync(
    join(folder, ".meridian/config.toml"),
    '[direct]\nmodel = "meridian/echo"\n[providers.house]\nkind = "openai-compatible"\nbase_url = "http://127.0.0.1:9/v1"\n',
  )
  const server = await startServer(folder, ["--port", "0"])
  const client = createClient({ url: server.url, token: server.token })
  expect((await client.server.agents()).items).toContainEqual({ name: "reviewer" })
  expect((await client.server.models()).items.find(({ isDefault }) => isDefault)?.id).toBe("meridian/echo")
  const { id: sessionID } = await client.sessions.create({
    location: { directory: folder },
    agent: "reviewer",
  })
  await client.sessions.prompt({ sessionID, prompt: { text: "hello" } })
  expect(await client.sessions.wait({ sessionID })).toMatchObject({ session: { status: "idle" } })
  const { items } = await client.sessions.messages({ sessionID, order: "desc", limit: 1 })
  expect(items).toMatchObject([{ type: "assistant", agent: "reviewer", model: "meridian/echo" }])
  await server.end("SIGTERM")
  rmSync(folder, { recursive: true, force: true })
})
