/** Imports the sessions that the real programs write: a prompt, calls, an answer, a second prompt. */
import { execFileSync } from "node:child_process"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { harnessSessionId } from "@meridian/protocol"
import { afterAll, expect, test } from "vitest"

import { openEngineScene, conversation } from "../engine-scene.ts"
import { importFile, readPieces } from "../import-scene.ts"
import { type LiveScene, liveScene, type RealName } from "./harness-scene.ts"

const USAGE = { input: 1200, output: 7, cacheRead: 300 }

const opened: LiveScene[] = []
afterAll(() => opened.forEach((scene) => scene.close()))

/** The one file below a folder. */
const findFile = (folder: string): string => {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
  const found = names.find((name) => name.endsWith(".jsonl"))
  if (found === undefined) throw new Error(`no session below ${folder}`)
  return join(folder, found)
}

const CASES: Readonly<
  Record<
    RealName,
    {
      readonly read: (scene: LiveScene) => {
        readonly name: string
        readonly input: Readonly<Record<string, string>>
      }
      readonly params: readonly string[]
      readonly file: (scene: LiveScene, session: string) => string
    }
  >
> = {
  claude: {
    read: ({ project }) => ({ name: "Read", input: { file_path: join(project, "README.md") } }),
    params: ["--dangerously-skip-permissions"],
    file: ({ environment }) => findFile(join(environment["HOME"] ?? "", ".claude/projects")),
  },
  codex: {
    read: () => ({ name: "exec_command", input: { cmd: "cat README.md" } }),
    params: [],
    file: ({ environment }) => findFile(join(environment["CODEX_HOME"] ?? "", "sessions")),
  },
  opencode: {
    read: ({ project }) => ({ name: "read", input: { filePath: join(project, "README.md") } }),
    params: [],
    file: (scene, session) => {
      const env = Object.fromEntries(
        Object.entries(scene.environment).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value]],
        ),
      )
      const text = execFileSync(scene.binary, ["export", session], {
        cwd: scene.project,
        env,
        encoding: "utf8",
      })
      const file = join(scene.project, "export.json")
      writeFileSync(file, text)
      return file
    },
  },
}

test.each(["claude", "codex", "opencode"] as const)("a session of the real %s", async (name) => {
  const scene = await liveScene(name)
  opened.push(scene)
  const { read, params, file } = CASES[name]
  const script: readonly ScriptStep[] = [
    { reasoning: { text: "I should look." }, text: "Looking.", tools: [read(scene)], usage: USAGE },
    { text: "It says lab.", usage: USAGE },
  ]
  const first = await scene.run(script, { prompt: "Read the README.", params })
  const session = first.verdict.harnessSessionId ?? ""
  await scene.run([{ text: "A second answer.", usage: USAGE }], {
    session: { kind: "continue", id: harnessSessionId(session) },
    prompt: "And now the kumquat?",
    params,
  })
  const path = file(scene, session)
  const { file: about, losses } = await readPieces(path)
  expect(about).toMatchObject({ format: name, about: { id: session, directory: scene.project } })
  expect(losses.map(({ kind }) => kind)).toEqual(
    expect.not.arrayContaining(["damaged", "unknown", "branches"]),
  )

  await using engine = await openEngineScene()
  const { session: imported, counts } = await importFile(engine.engine, path, scene.project)
  expect(counts).toMatchObject({ prompts: 2, turns: 3, tools: 1, unanswered: 0, strayResults: 0 })
  const said = await conversation(engine.engine, imported.id)
  expect(said).toEqual(
    expect.arrayContaining([
      "user: Read the README.",
      "assistant: Looking.",
      "assistant: It says lab.",
      "user: And now the kumquat?",
      "assistant: A second answer.",
    ]),
  )
  expect(imported.usage).toMatchObject({ input: 3_600, cacheRead: 900 })
})
