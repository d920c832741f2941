/** The engine settings of `config.toml`, through the shipped program. Direct, editors and HTTP follow them. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

import { createClient } from "@meridian/server/client"
import { expect, test } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { document } from "./cli-binary.ts"
import { startServer } from "./server-process.ts"

const ECHO = JSON.stringify([process.execPath, resolve("test/fixture/mcp-echo.mjs")])
const DIRECT = ["run", "spawn", "--harness", "direct", "-p"] as const

const userFile = (scene: DirectScene): string => join(scene.project, "home/.config/meridian/config.toml")

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const projectFile = (scene: DirectScene): string => join(scene.project, ".meridian/config.toml")

const MODEL = '[direct]\nmodel = "anthropic/claude-sonnet-4-6"\n'

verifies("config.engine", async () => {
  const scene = await directScene()
  write(join(scene.project, "docs/house.md"), "House rule: tabs.\n")
  write(
    projectFile(scene),
    `${MODEL}[instructions]
files = ["docs/*.md"]
[references.library]
path = "vendor/library"
description = "the library we build on"
[agents.build]
tools = ["read", "glob"]
temperature = 0.5
[models."anthropic/claude-sonnet-4-6"]
variants = { deep = { effort = "high", max_output_tokens = 1234 } }
[permissions]
rules = [{ action = "glob", resource = "*", effect = "deny" }]
[compaction]
keep_tokens = 500
[retry]
base_ms = 5
[limits]
turns_per_activity = 3
`,
  )
  expect((await scene.run(...DIRECT, "one")).code).toBe(0)
  const [body = ""] = scene.asked()
  expect(body).toContain("House rule: tabs.")
  expect(body).toContain(`library: ${join(scene.project, "vendor/library")} the library we build on`)
  expect([...body.matchAll(/"name":"(\w+)","description"/g)].map(([, name]) => name)).toEqual(["read"])
  expect(body).toContain('"temperature":0.5')
  expect((await scene.run(...DIRECT, "two", "-m", "direct/anthropic/claude-sonnet-4-6:deep")).code).toBe(0)
  expect(scene.asked().at(-1)).toContain('"max_tokens":1234')
  const shown = document(await scene.run("config", "show", "--json"))
  const values = new Map(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output of the command
    (shown as { values: { key: string; value: unknown; source: string }[] }).values.map((one) => [
      one.key,
      one,
    ]),
  )
  expect(
    [
      "instructions.files",
      "references.library.path",
      "agents.build.tools",
      "permissions.rules",
      "compaction.keep_tokens",
      "retry.base_ms",
      "limits.turns_per_activity",
    ].map((key) => [key, values.get(key)?.source]),
  ).toEqual(
    [
      "instructions.files",
      "references.library.path",
      "agents.build.tools",
      "permissions.rules",
      "compaction.keep_tokens",
      "retry.base_ms",
      "limits.turns_per_activity",
    ].map((key) => [key, "file"]),
  )
})

verifies("mcp.configured", async () => {
  const scene = await directScene({
    script: [{ tools: [{ name: "lab_echo", input: { text: "over there" } }] }, { text: "ok" }],
  })
  write(
    userFile(scene),
    `[mcp.lab]\ncommand = ${ECHO}\n[permissions]\nrules = [{ action = "lab_*", resource = "*", effect = "allow" }]\n`,
  )
  expect((await scene.run(...DIRECT, "go")).stdout).toBe("ok\n")
  expect(scene.asked()[0]).toContain('"name":"lab_echo"')
  expect(scene.asked()[1]).toContain("over there")
})

verifies(
  "mcp.configured",
  async () => {
    const scene = await directScene()
    write(projectFile(scene), `${MODEL}[mcp.lab]\ncommand = ${ECHO}\n`)
    const untrusted = await scene.run(...DIRECT, "go")
    expect(untrusted.code).toBe(0)
    expect(untrusted.stderr).toContain("mcp.lab")
    expect(scene.asked()[0]).not.toContain("lab_echo")
    expect((await scene.run("trust", "--yes")).code).toBe(0)
    await scene.run(...DIRECT, "go")
    expect(scene.asked().at(-1)).toContain('"name":"lab_echo"')
    // One more word in the command makes it a different server.
    write(projectFile(scene), `${MODEL}[mcp.lab]\ncommand = ${ECHO}\nargs = ["more"]\n`)
    await scene.run(...DIRECT, "go")
    expect(scene.asked().at(-1)).not.toContain("lab_echo")
  },
  "a project's counts where its folder is trusted with exactly that",
)

verifies(
  "mcp.configured",
  async () => {
    const scene = await directScene()
    write(userFile(scene), `[mcp.lab]\ncommand = ${ECHO}\n`)
    const server = await startServer(scene.project, ["--port", "0"], scene.env)
    const client = createClient({ url: server.url, token: server.token })
    const { id: sessionID } = await client.sessions.create({ location: { directory: scene.project } })
    await client.sessions.prompt({ sessionID, prompt: { text: "hello" } })
    await client.sessions.wait({ sessionID })
    expect(scene.asked()[0]).toContain('"name":"lab_echo"')
    await server.end("SIGTERM")
  },
  "and over HTTP",
)

test.each([
  ["[mcp.lab]\n", "mcp.lab", "a command or a url"],
  ['[mcp.lab]\ncommand = "one two"\n', "mcp.lab.command", "a list of words"],
  ['[mcp.lab]\nurl = "ftp://x"\n', "mcp.lab.url", "http"],
  ['[references.x]\ndescription = "no place"\n', "references.x", "a path"],
  ['[agents.x]\nmode = "boss"\n', "agents.x.mode", "primary, sub, all"],
  ['[agents.x]\npermissions = ["allow"]\n', "agents.x.permissions", "effect"],
  ["[permissions]\nrules = [{ action = 1 }]\n", "permissions.rules", "effect"],
  ["[limits]\nlease_ms = 0\n", "limits.lease_ms", "1000"],
  ['[models."anthropic/x"]\nvariants = { a = { heat = 1 } }\n', "variants", "effort"],
])("what is wrong is refused with its place: %j", async (text, key, expected) => {
  const scene = await directScene()
  write(userFile(scene), text)
  const shown = await scene.run("config", "show")
  expect(shown.code).not.toBe(0)
  expect(shown.stderr).toContain("ERROR [CONFIG_INVALID]")
  expect(shown.stderr).toContain(key)
  expect(shown.stderr).toContain(expected)
})
