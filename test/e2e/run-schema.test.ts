/** `run spawn --schema FILE` prints the value that was asked for. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { directScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { meridian } from "./cli-binary.ts"

const SCHEMA = {
  type: "object",
  properties: { files: { type: "array", items: { type: "string" } } },
  required: ["files"],
}

const schemaFile = (project: string, text = JSON.stringify(SCHEMA)): string => {
  writeFileSync(join(project, "answer.json"), text)
  return "answer.json"
}

const spawn = ["run", "spawn", "-p", "which?"] as const
const answer = (files: readonly string[] | number) => ({
  tools: [{ name: "structured_output", input: { files } }],
})

verifies("run.schema", async () => {
  const scene = await directScene({
    script: [{ tools: [{ name: "glob", input: { pattern: "*.md" } }] }, answer(1), answer(["README.md"])],
  })
  const ran = await scene.run(...spawn, "--harness", "direct", "--schema", schemaFile(scene.project))
  expect([ran.stdout, ran.code]).toEqual(['{"files":["README.md"]}\n', 0])
})

verifies(
  "run.schema",
  async () => {
    const scene = await directScene({ script: [answer(1), answer(1), answer(1)] })
    const ran = await scene.run(...spawn, "--harness", "direct", "--schema", schemaFile(scene.project))
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain("failure: ")
    expect(ran.stdout).not.toContain("files")
  },
  "an answer that never fits is a failure",
)

/** Ends as such a program does, and notes which flags it got. */
const pretend = (
  project: string,
  name: string,
  lines: readonly unknown[],
): Readonly<Record<string, string>> => {
  const path = join(project, "bin", name)
  mkdirSync(join(project, "bin"), { recursive: true })
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${path}.cjs' "$@"\n`)
  writeFileSync(
    `${path}.cjs`,
    `require("node:fs").writeFileSync(${JSON.stringify(join(project, "flags.json"))}, JSON.stringify(process.argv.slice(2)))
process.stdin.resume().on("end", () => process.stdout.write(${JSON.stringify(text)}))
`,
  )
  chmodSync(path, 0o755)
  return { [`MERIDIAN_${name.toUpperCase()}_COMMAND`]: path }
}

const PRETENDED = {
  claude: [
    { type: "system", subtype: "init", session_id: "5e55" },
    { type: "assistant", session_id: "5e55", message: { content: [{ type: "text", text: "There." }] } },
    {
      type: "result",
      subtype: "success",
      is_error: false,
      session_id: "5e55",
      result: "There.",
      structured_output: { files: ["a.md"] },
      usage: {},
    },
  ],
  codex: [
    { type: "thread.started", thread_id: "7ea0" },
    { type: "turn.started" },
    { type: "item.completed", item: { id: "i", type: "agent_message", text: '{"files":["a.md"]}' } },
    { type: "turn.completed", usage: { input_tokens: 1, output_tokens: 1 } },
  ],
} as const

for (const [name, flag] of [
  ["claude", "--json-schema"],
  ["codex", "--output-schema"],
] as const)
  verifies(
    "run.schema",
    async () => {
      const scene = await directScene()
      const words = [...spawn, "--harness", name, "--schema", schemaFile(scene.project)]
      const env = { ...scene.env, ...pretend(scene.project, name, PRETENDED[name]) }
      const ran = await meridian(words, { cwd: scene.project, env })
      expect([ran.stdout, ran.code]).toEqual(['{"files":["a.md"]}\n', 0])
      expect(readFileSync(join(scene.project, "flags.json"), "utf8")).toContain(flag)
    },
    `${name} by its own flag`,
  )

test.each([
  ["opencode", JSON.stringify(SCHEMA), "SCHEMA_UNSUPPORTED"],
  ["direct", "[1]", "SCHEMA_UNREADABLE"],
  ["direct", "{", "SCHEMA_UNREADABLE"],
  ["direct", "long", "SCHEMA_UNREADABLE"],
])("for %s the schema %j is refused before anything is begun", async (harness, text, code) => {
  const scene = await directScene()
  const written = text === "long" ? `{"description":"${"x".repeat(70_000)}"}` : text
  const ran = await scene.run(...spawn, "--harness", harness, "--schema", schemaFile(scene.project, written))
  expect([ran.code, ran.stderr.includes(`ERROR [${code}]`)]).toEqual([2, true])
  const missing = await scene.run(...spawn, "--harness", "direct", "--schema", "nowhere.json")
  expect(missing.stderr).toContain("ERROR [SCHEMA_UNREADABLE]")
})
