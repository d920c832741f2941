/** Extensions from files, through the shipped program: the user's own, those of a trusted project, and OpenCode plugins. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

import { createClient } from "@meridian/server/client"
import { expect, test } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { startServer } from "./server-process.ts"

const DIRECT = ["run", "spawn", "--harness", "direct", "-p"] as const

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const ownFile = (scene: DirectScene, name: string, text: string): void =>
  write(join(scene.project, "home/.config/meridian/extensions", name), text)

const projectFile = (scene: DirectScene, name: string, text: string): void =>
  write(join(scene.project, ".meridian/extensions", name), text)

const saying = (word: string): string => `interface Words { readonly system: readonly string[] }
export default {
  name: ${JSON.stringify(word)},
  hooks: { beforeRequest: <W extends Words>(request: W): W => ({ ...request, system: [...request.system, ${JSON.stringify(word)}] }) },
}
`

verifies("extensions.files", async () => {
  const scene = await directScene({
    script: [{ tools: [{ name: "house_number", input: {} }] }, { text: "seven" }],
  })
  ownFile(scene, "words.ts", saying("OWN-WORDS"))
  ownFile(
    scene,
    "number.js",
    `export default async () => ({
  tools: [{ name: "house_number", description: "The number", input: { type: "object" }, execute: () => "seven it is" }],
})
`,
  )
  ownFile(scene, "notes.txt", "no extension")
  const ran = await scene.run(...DIRECT, "go", "--permission", "full-access")
  expect([ran.stdout, ran.code]).toEqual(["seven\n", 0])
  expect(scene.asked()[0]).toContain("OWN-WORDS")
  expect(scene.asked()[0]).toContain('"name":"house_number"')
  expect(scene.asked()[1]).toContain("seven it is")
})

verifies(
  "extensions.files",
  async () => {
    const scene = await directScene()
    projectFile(scene, "words.ts", saying("PROJECT-WORDS"))
    const untrusted = await scene.run(...DIRECT, "go")
    expect(untrusted.stderr + scene.asked().join("")).not.toContain("PROJECT-WORDS")
    expect((await scene.run("trust", "--dry-run")).stdout).toContain("words.ts")
    expect((await scene.run("trust", "--yes")).code).toBe(0)
    await scene.run(...DIRECT, "go")
    expect(scene.asked().at(-1)).toContain("PROJECT-WORDS")
    // Any changed byte in the folder needs new trust.
    projectFile(scene, "lib/helper.ts", "export const more = 1\n")
    await scene.run(...DIRECT, "go")
    expect(scene.asked().at(-1)).not.toContain("PROJECT-WORDS")
  },
  "those of a project count where its folder is trusted with exactly them",
)

verifies(
  "extensions.files",
  async () => {
    const scene = await directScene()
    ownFile(scene, "words.ts", saying("OWN-WORDS"))
    const server = await startServer(scene.project, ["--port", "0"], scene.env)
    const client = createClient({ url: server.url, token: server.token })
    const { id: sessionID } = await client.sessions.create({ location: { directory: scene.project } })
    await client.sessions.prompt({ sessionID, prompt: { text: "hello" } })
    await client.sessions.wait({ sessionID })
    expect(scene.asked()[0]).toContain("OWN-WORDS")
    await server.end("SIGTERM")
  },
  "and over HTTP",
)

test.each([
  ["throws.ts", 'throw new Error("not today")', "not today"],
  ["empty.ts", "export const other = 1", "default export"],
  ["wrong.ts", "export default { hooks: { beforeNoon: () => 1 } }", "beforeNoon"],
  ["syntax.ts", "export default {", ""],
  ["rejects.ts", 'export default async () => { throw new Error("no luck") }', "no luck"],
])("a file that is wrong is left out and the work goes on: %s", async (name, text, said) => {
  const scene = await directScene({ script: [{ text: "done" }] })
  ownFile(scene, name, text)
  ownFile(scene, "words.ts", saying("OWN-WORDS"))
  const ran = await scene.launch()
  expect(ran.end.exitCode).toBe(0)
  expect(ran.end.stderrTail).toContain("WARNING [EXTENSION_UNUSABLE]")
  expect(ran.end.stderrTail).toContain(said)
  expect(scene.asked()[0]).toContain("OWN-WORDS")
})

verifies("extensions.opencode", async () => {
  const scene = await directScene({
    script: [{ tools: [{ name: "shout", input: { word: "hello", times: 2 } }] }, { text: "end" }],
  })
  const zod = pathToFileURL(resolve("node_modules/zod/index.js")).href
  const plugin = join(scene.project, "plugin.ts")
  write(
    plugin,
    `import { z } from ${JSON.stringify(zod)}
export const House = async ({ directory }) => ({
  tool: {
    shout: {
      description: "Says it loudly",
      args: { word: z.string().describe("what"), times: z.number().optional() },
      execute: async ({ word }, context) => word.toUpperCase() + " from " + context.agent,
    },
  },
  "experimental.chat.system.transform": async (input, output) => { output.system.push("HOUSE " + directory) },
  "experimental.chat.messages.transform": async (input, output) => {
    for (const { parts } of output.messages) for (const part of parts) part.text = part.text.replace("secret", "[hidden]")
  },
  "chat.params": async (input, output) => { output.temperature = 0.125 },
  "chat.headers": async (input, output) => { output.headers["x-house"] = "7" },
  "tool.execute.before": async ({ tool }, output) => {
    if (tool === "shout") output.args.word = "changed"
  },
  "tool.execute.after": async (input, output) => { output.output += "!" },
  "permission.ask": async () => {},
  event: async () => {},
})
`,
  )
  write(
    join(scene.project, "home/.config/meridian/config.toml"),
    `[extensions]\nopencode = [${JSON.stringify(plugin)}]\n`,
  )
  const ran = await scene.run(...DIRECT, "tell no secret", "--permission", "full-access")
  expect([ran.stdout, ran.code]).toEqual(["end\n", 0])
  const [first = "", second = ""] = scene.asked()
  expect(first).toContain(`HOUSE ${scene.project}`)
  expect(first).toContain("tell no [hidden]")
  expect(first).toContain('"temperature":0.125')
  expect(first).toContain('"word":{"type":"string","description":"what"}')
  expect(first).toContain('"required":["word"]')
  expect(second).toContain("CHANGED from build!")
  expect(scene.provider.requests.find(({ n }) => n > 0)?.headers).toMatchObject({ "x-house": "7" })
})

verifies(
  "extensions.opencode",
  async () => {
    const scene = await directScene({
      script: [{ tools: [{ name: "glob", input: { pattern: "*" } }] }, { text: "end" }],
    })
    const plugin = join(scene.project, "plugin.js")
    write(
      plugin,
      `export const Guard = async () => ({
  "tool.execute.before": async () => { throw new Error("not in this house") },
  "shell.env": async () => {},
})
`,
    )
    write(
      join(scene.project, "home/.config/meridian/config.toml"),
      `[extensions]\nopencode = [${JSON.stringify(plugin)}]\n`,
    )
    const ran = await scene.launch({ prompt: "go" })
    expect(scene.asked()[1]).toContain("not in this house")
    expect(ran.end.stderrTail).toContain("WARNING [PLUGIN_HOOKS_UNUSED]")
    expect(ran.end.stderrTail).toContain("shell.env")
  },
  "throwing refuses a call there and here, and hooks without a counterpart are named",
)
