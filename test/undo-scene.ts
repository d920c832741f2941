/** An engine whose tools really change files, inside or outside a repository. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import type { EngineOptions } from "@meridian/engine"
import type { JsonObject } from "@meridian/protocol"

import { openEngineScene, type Answer, type EngineScene } from "./engine-scene.ts"

export interface UndoScene {
  readonly scene: EngineScene
  readonly git: (...words: readonly string[]) => string
  /** Undefined when the file does not exist. */
  readonly read: (path: string) => string | undefined
  readonly write: (path: string, content: string) => void
  /** Sends a prompt and waits until its work has settled. */
  readonly say: (text: string, sessionID?: string) => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export const openUndoScene = async (
  answers: readonly Answer[],
  {
    isRepository = true,
    files = { "a.txt": "one\n" },
    options = {},
  }: {
    readonly isRepository?: boolean
    readonly files?: Readonly<Record<string, string>>
    readonly options?: Partial<EngineOptions>
  } = {},
): Promise<UndoScene> => {
  const scene = await openEngineScene(answers, { undo: true, ...options })
  const { directory } = scene
  const git = (...words: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], {
      cwd: directory,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    })
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  for (const [path, content] of Object.entries(files)) write(path, content)
  if (isRepository) {
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "-m", "first")
  }
  return {
    scene,
    git,
    write,
    read: (path) => {
      try {
        return readFileSync(join(directory, path), "utf8")
      } catch {
        return undefined
      }
    },
    say: async (text, sessionID = scene.session.id) => {
      await scene.engine.sessions.prompt({ sessionID, prompt: { text } })
      await scene.engine.sessions.wait(sessionID)
    },
    [Symbol.asyncDispose]: async () => {
      await scene[Symbol.asyncDispose]()
    },
  }
}

export const calls = (...made: readonly (readonly [name: string, input: JsonObject])[]): Answer => ({
  tools: made.map(([name, input]) => ({ name, input })),
})

export const bash = (command: string): Answer => calls(["bash", { command }])
