/** The three real CLIs in worktrees, each with a check that fails first. The agent is told, continues, and is verified. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import type { JsonObject } from "@meridian/protocol"
import { expect, test } from "vitest"

import { liveScene, type RealName } from "./harness-scene.ts"
import { meridianIn } from "./meridian-command.ts"

const MODELS: readonly (readonly [RealName, string])[] = [
  ["claude", "sonnet"],
  ["codex", "gpt-5.3-codex"],
  ["opencode", "fake/small"],
]

const SHELL: Readonly<
  Record<RealName, (command: string) => { readonly name: string; readonly input: JsonObject }>
> = {
  claude: (command) => ({ name: "Bash", input: { command, description: "x" } }),
  codex: (command) => ({ name: "exec_command", input: { cmd: command, yield_time_ms: 30_000 } }),
  opencode: (command) => ({ name: "bash", input: { command, description: "x" } }),
}

test.each(MODELS)("%s works in a worktree until its check is green, and is applied", async (name, model) => {
  const scene = await liveScene(name)
  try {
    const git = (...words: readonly string[]): string =>
      execFileSync("git", words, { cwd: scene.project, encoding: "utf8" })
    git("config", "user.name", "Somebody")
    git("config", "user.email", "somebody@example.org")
    git("add", "README.md")
    git("commit", "-qm", "first")
    const shell = SHELL[name]
    const script = [
      { tools: [shell("echo wrong > answer.txt")] },
      { text: "Done." },
      { tools: [shell("echo right > answer.txt")] },
      { text: "Now it is done." },
    ]
    const meridian = meridianIn(scene)
    await scene.provide(script, async (provider) => {
      const words = ["run", "spawn", "-m", model, "--permission", "danger", "--worktree"]
      const check = ["--check", "grep -q right answer.txt", "-p", "Answer.", "--json"]
      const run = await meridian(...words, ...check)
      // oxlint-disable-next-line eslint/no-restricted-properties -- the document of our own command
      expect(`${run.stderr} ${run.stdout}`).toContain('"verdict":"verified"')
      const asked = provider.requests.map(({ body }) => JSON.stringify(body)).join("\n")
      expect(asked).toContain("grep -q right answer.txt: exit code 1")
      return undefined
    })
    expect(existsSync(join(scene.project, "answer.txt"))).toBe(false)
    const applied = await meridian("run", "apply", "r1", "--space", "s1")
    expect(applied).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(scene.project, "answer.txt"), "utf8")).toBe("right\n")
  } finally {
    scene.close()
  }
})
