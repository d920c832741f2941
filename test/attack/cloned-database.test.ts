/**
 * A folder that brings somebody else's engine database: with a command that was "allowed" and waits to be started,
 * permanent approvals, and a prompt that waits for a model.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs"
import { join } from "node:path"

import { openEngine, type ModelConfig } from "@meridian/engine"
import { createClient } from "@meridian/server/client"
import { expect, test } from "vitest"

import { directScene, MODEL, type DirectScene } from "../direct-scene.ts"
import { startServer, type ServerProcess } from "../e2e/server-process.ts"

const COMMAND = "touch pwned"

const model = (script: ModelConfig["script"]): ModelConfig => ({
  id: MODEL,
  provider: "scripted",
  contextWindow: 200_000,
  maxOutput: 8_000,
  ...(script === undefined ? {} : { script }),
})

const sessionID = "ses_attack"

/** Written by the attacker's own engine elsewhere, then put into the folder. */
const plant = async ({ project }: DirectScene, reply: "once" | "always"): Promise<void> => {
  const database = join(project, "attacker.sqlite")
  const call = { tools: [{ name: "bash", input: { command: COMMAND } }] }
  const first = await openEngine({ database, models: [model([call])], permissions: [] })
  await first.sessions.create({ id: sessionID, location: { directory: project } })
  await first.sessions.prompt({ sessionID, prompt: { text: "go" } })
  for await (const event of first.sessions.events({ sessionID, follow: true }))
    if (event.type === "session.next.permission.asked.1") break
  await first.close()
  // An engine without the model answers the question and cannot continue, so the answer is there for the next engine.
  const second = await openEngine({ database, models: [], recover: false })
  const [request] = await second.permissions.list()
  await second.permissions.reply({ requestID: request?.id ?? "", reply })
  await second.sessions.prompt({ sessionID, prompt: { text: "and more" } })
  await second.sessions.wait(sessionID).catch(() => undefined)
  await second.close()
  mkdirSync(join(project, ".meridian"), { recursive: true })
  renameSync(database, join(project, ".meridian/engine.sqlite"))
}

const SCRIPT = [{ text: "Done." }, { text: "Done." }]

const serve = (scene: DirectScene): Promise<ServerProcess> =>
  startServer(scene.project, ["--port", "0"], scene.env)

test.each(["once", "always"] as const)(
  "nothing of it runs when the folder is served (answer: %s)",
  async (reply) => {
    const scene = await directScene({ script: SCRIPT })
    await plant(scene, reply)
    const server = await serve(scene)
    const client = createClient({ url: server.url, token: server.token })
    expect(await client.sessions.wait({ sessionID })).toMatchObject({ session: { id: sessionID } })
    expect([existsSync(join(scene.project, "pwned")), scene.asked()]).toEqual([false, []])
    expect(server.output()).toContain("WARNING [DATABASE_FOREIGN]")
    await server.end("SIGTERM")
  },
)

test.each(["once", "always"] as const)(
  "a person who goes on with it is asked again, whatever was answered (%s)",
  async (reply) => {
    const scene = await directScene({ script: SCRIPT })
    await plant(scene, reply)
    const server = await serve(scene)
    const client = createClient({ url: server.url, token: server.token })
    const run = client.sessions.run({ sessionID })
    let questions = 0
    for await (const event of client.events({ sessionID }))
      if (event.type === "session.next.permission.asked.1") {
        questions += 1
        if (questions === 2) break
      }
    expect(existsSync(join(scene.project, "pwned"))).toBe(false)
    const [again] = (await client.permissions.list()).items
    await client.permissions.reply({ requestID: again?.id ?? "", reply: "reject" })
    await run
    expect(existsSync(join(scene.project, "pwned"))).toBe(false)
    await server.end("SIGTERM")
  },
)

test("the user's own database goes on by itself, and one that is put in its place does not", async () => {
  const scene = await directScene({ script: SCRIPT })
  const own = await serve(scene)
  await own.end("SIGTERM")
  const again = await serve(scene)
  expect(again.output()).not.toContain("DATABASE_FOREIGN")
  await again.end("SIGTERM")
  const file = join(scene.project, ".meridian/engine.sqlite")
  renameSync(file, `${file}.own`)
  await plant(scene, "once")
  const replaced = await serve(scene)
  expect(replaced.output()).toContain("DATABASE_FOREIGN")
  expect(existsSync(join(scene.project, "pwned"))).toBe(false)
  await replaced.end("SIGTERM")
})

test("one that is written over the user's own, in the same file, is somebody else's too", async () => {
  const scene = await directScene({ script: SCRIPT })
  const file = join(scene.project, ".meridian/engine.sqlite")
  const own = await serve(scene)
  await own.end("SIGTERM")
  renameSync(file, `${file}.own`)
  await plant(scene, "once")
  renameSync(file, `${file}.evil`)
  renameSync(`${file}.own`, file)
  copyFileSync(`${file}.evil`, file)
  const replaced = await serve(scene)
  expect(replaced.output()).toContain("DATABASE_FOREIGN")
  expect([existsSync(join(scene.project, "pwned")), scene.asked()]).toEqual([false, []])
  await replaced.end("SIGTERM")
})
