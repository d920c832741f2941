/**
 * A model of Direct that a folder has turned against its user: it writes files that other agents obey, and runs forbidden
 * commands.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { describe, expect, test } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"

const DIRECT = ["run", "spawn", "--harness", "direct", "-p", "do it"] as const

const put = (scene: DirectScene, path: string, content: string): void => {
  mkdirSync(dirname(join(scene.project, path)), { recursive: true })
  writeFileSync(join(scene.project, path), content)
}

describe("with workspace-write it does not write what others obey", () => {
  test.each([
    ".claude/agents/agent.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".opencode/plugins/evil.ts",
    "opencode.json",
    ".codex/hooks.json",
    ".agents/skills/x/SKILL.md",
    ".mcp.json",
    ".envrc",
    ".husky/pre-commit",
    "packages/library/.claude/settings.json",
  ])("%s", async (path) => {
    const scene = await directScene({
      script: [
        { tools: [{ name: "write", input: { path, content: "evil\n" } }] },
        { tools: [{ name: "write", input: { path: "fine.txt", content: "fine\n" } }] },
        { text: "Done." },
      ],
    })
    await scene.run(...DIRECT, "--permission", "workspace-write")
    expect([existsSync(join(scene.project, path)), existsSync(join(scene.project, "fine.txt"))]).toEqual([
      false,
      true,
    ])
  })
})

describe("a command it may run", () => {
  /** The user's own agent, which allows one command with any words. */
  const withEcho = (scene: DirectScene): void =>
    put(
      scene,
      "home/.claude/agents/agent.md",
      '---\nname: agent\nallowed-tools: "Bash(echo:*)"\n---\nDo it.\n',
    )

  test.each(["echo ${x:='$''(touch pwned)'} ${x@P}", "echo ${y:=$'\\x24(touch pwned)'} ${y@P}"])(
    "runs no other: %s",
    async (command) => {
      const scene = await directScene({
        script: [{ tools: [{ name: "bash", input: { command } }] }, { text: "Done." }],
      })
      withEcho(scene)
      await scene.run(...DIRECT)
      expect([existsSync(join(scene.project, "pwned")), scene.asked().length]).toEqual([false, 2])
    },
  )
})

describe("looking", () => {
  /** A folder that git takes for a repository, and that names a program for it. */
  const trap = (scene: DirectScene, folder: string): void => {
    const path = join(scene.project, folder)
    mkdirSync(path, { recursive: true })
    const evil = join(scene.project, "evil.sh")
    writeFileSync(evil, `#!/bin/sh\ntouch '${join(scene.project, "pwned")}'\n`)
    chmodSync(evil, 0o755)
    execFileSync("git", ["init", "-q", "--bare", path])
    for (const [key, value] of [
      ["core.bare", "false"],
      ["core.worktree", "."],
      ["core.fsmonitor", `'${evil}'`],
    ] as const)
      execFileSync("git", ["--git-dir", path, "config", key, value])
  }

  test("runs nothing that a folder inside the project names", async () => {
    const scene = await directScene({
      script: [
        { tools: [{ name: "bash", input: { command: "git status", workdir: "fixtures/bare" } }] },
        { text: "Done." },
      ],
    })
    trap(scene, "fixtures/bare")
    await scene.run(...DIRECT, "--permission", "read-only")
    expect([existsSync(join(scene.project, "pwned")), scene.asked().length]).toEqual([false, 2])
  })

  test("runs nothing that the project's own repository names", async () => {
    const scene = await directScene({
      script: [{ tools: [{ name: "bash", input: { command: "git status" } }] }, { text: "Done." }],
    })
    trap(scene, ".git")
    execFileSync("git", ["--git-dir", join(scene.project, ".git"), "config", "--unset", "core.worktree"])
    await scene.run(...DIRECT, "--permission", "read-only")
    expect([existsSync(join(scene.project, "pwned")), scene.asked().length]).toEqual([false, 2])
  })
})

test("an agent called plan acts in no tier", async () => {
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: "touch pwned" } }] },
      { tools: [{ name: "write", input: { path: "pwned", content: "x" } }] },
      { text: "Done." },
    ],
  })
  put(scene, ".claude/agents/plan.md", "---\nname: plan\n---\nPlan.\n")
  await scene.run(...DIRECT, "-a", "plan", "--permission", "full-access")
  expect([existsSync(join(scene.project, "pwned")), scene.asked().length]).toEqual([false, 3])
})
