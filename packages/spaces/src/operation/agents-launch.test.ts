import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import { renderWarning, warning } from "../domain/warning.ts"
import { loadConfig } from "../store/config-file.ts"
import { openPlace } from "../store/place.ts"
import { resolveLaunch, type LaunchWish } from "./agents-launch.ts"
import { composeLaunch } from "./agents-prompt.ts"

const scene = async (
  files: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
) => {
  const project = mkdtempSync(join(tmpdir(), "meridian-launch-"))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), content)
  }
  const env = { MERIDIAN_REPO_ROOT: project, HOME: join(project, "home"), ...more }
  const place = openPlace(env, project)
  const { config, ceilings } = await loadConfig({
    root: place.root,
    cwd: project,
    env,
    configPath: undefined,
  })
  const warned: string[] = []
  const said: string[] = []
  return {
    project,
    warned,
    said,
    resolve: (wish: Partial<LaunchWish>) =>
      resolveLaunch(
        { skills: [], kind: "run", ...wish },
        {
          place,
          config,
          ceilings,
          world: {
            env,
            warn: (code, facts) => {
              warned.push(code)
              said.push(renderWarning(warning(code, facts)))
            },
          },
        },
      ),
  }
}

const failure = async (act: Promise<unknown>): Promise<string> => {
  try {
    await act
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message} Next: ${error.next}`
    throw error
  }
  return "no failure"
}

const CODER = `---
name: coder
description: Writes code
model: gpt-5.3-codex
variant: high
skills: [plan, ghost]
allowed-tools: Read, Edit
sandbox: workspace-write
---
You write code.
`

const FILES = {
  ".agents/agents/coder.md": CODER,
  ".claude/agents/coder.md": "shadowed",
  ".claude/agents/other-file.md": "---\nname: reviewer\n---\nReview.",
  ".meridian/skills/plan/SKILL.md": "---\ndescription: Planning\ntags: a, b\n---\nPlan first.",
  ".opencode/skills/deep/er/SKILL.md": "---\nname: review\n---\nReview twice.",
}

test("without any wish the default harness runs read-only, with the model its user chose there", async () => {
  const { resolve, warned } = await scene({})
  expect(await resolve({})).toEqual({
    harness: "claude",
    model: "",
    skills: [],
    permission: "read-only",
  })
  expect(await resolve({ kind: "primary" })).not.toHaveProperty("permission")
  expect(warned).toEqual([])
})

test("an agent decides model, effort and skills; its unknown skills are warned about", async () => {
  const { resolve, warned, project } = await scene(FILES, {
    MERIDIAN_DEFAULT_PERMISSION_TIER: "full-access",
  })
  const launch = await resolve({ agent: "coder", skills: ["review"] })
  expect([launch.harness, launch.model, launch.effort, launch.permission]).toEqual([
    "codex",
    "gpt-5.3-codex",
    "high",
    "workspace-write",
  ])
  expect(launch.skills.map(({ name }) => name)).toEqual(["review", "plan"])
  expect(launch.agent?.path).toBe(join(project, ".agents/agents/coder.md"))
  expect(launch.allowedTools).toEqual(["Read", "Edit"])
  expect(warned).toEqual(["SKILLS_SKIPPED"])
})

test("a profile of the project lowers rights and never raises them", async () => {
  const { resolve, said, project } = await scene(FILES)
  const rights = async (wish: Partial<LaunchWish>) => {
    const { permission, allowedTools } = await resolve({ skills: [], ...wish })
    return [permission, allowedTools]
  }
  expect(await rights({ agent: "coder" })).toEqual(["read-only", ["Read"]])
  expect(await rights({ agent: "coder", permission: "workspace-write" })).toEqual([
    "workspace-write",
    undefined,
  ])
  expect(said.filter((line) => line.includes("TIER_CAPPED"))).toEqual([
    `WARNING [TIER_CAPPED]: Agent 'coder' (${project}/.agents/agents/coder.md) asks for workspace-write and gets read-only: files of a folder only lower what you gave. Next: give --permission workspace-write, or run 'meridian trust --tier workspace-write'.`,
  ])
})

test("explicit flags take precedence over the profile, and the harness follows the winning model", async () => {
  const { resolve } = await scene(FILES)
  const launch = await resolve({ agent: "coder", model: "sonnet", permission: "danger" })
  expect([launch.harness, launch.model, launch.permission]).toEqual(["claude", "claude-sonnet-5-5", "danger"])
})

test("profiles written for a harness are read as they are, and its own keys are ignored", async () => {
  const { resolve } = await scene({
    ".opencode/agents/build.md":
      "---\nmode: subagent\nmodel: zai/glm-5\npermission:\n  edit: ask\ntools:\n  write: false\n---\nBuild.",
    ".claude/agents/look.md": "---\nmodel: inherit\npermissionMode: plan\ntools: Read, Grep\n---\nLook.",
  })
  const build = await resolve({ agent: "build" })
  expect([build.harness, build.model, build.permission, build.agent?.allowedTools]).toEqual([
    "opencode",
    "zai/glm-5",
    "read-only",
    undefined,
  ])
  const look = await resolve({ agent: "look" })
  expect([look.harness, look.model, look.agent?.allowedTools]).toEqual(["claude", "", ["Read", "Grep"]])
})

test("an agent is found by the name in its front matter too", async () => {
  const { resolve } = await scene(FILES)
  expect((await resolve({ agent: "reviewer" })).agent?.body).toBe("Review.")
})

test("a continued chat keeps its agent, skills and model from their recorded paths unless a flag overrides them", async () => {
  const { resolve, project } = await scene({
    ...FILES,
    "old/coder.md": "Old text.",
    "old/plan/SKILL.md": "Old plan.",
  })
  const recorded = {
    name: "Chat c1",
    harness: "claude",
    model: "claude-haiku-5-5",
    agent: "coder",
    agentPath: join(project, "old/coder.md"),
    skills: ["plan"],
    skillPaths: [join(project, "old/plan/SKILL.md")],
  }
  const kept = await resolve({ recorded })
  expect([kept.harness, kept.model, kept.agent?.body, kept.skills.map(({ body }) => body)]).toEqual([
    "claude",
    "claude-haiku-5-5",
    "Old text.",
    ["Old plan."],
  ])
  const changed = await resolve({ recorded, model: "opus", skills: ["review"] })
  expect([changed.model, changed.agent?.body, changed.skills.map(({ name }) => name)]).toEqual([
    "claude-opus-5-5",
    "Old text.",
    ["review"],
  ])
  const gone = await resolve({
    recorded: { ...recorded, agentPath: "/none.md", skillPaths: ["/none/SKILL.md"] },
  })
  expect([gone.agent?.body, gone.skills.map(({ body }) => body)]).toEqual([
    "You write code.",
    ["Plan first."],
  ])
})

test.each([
  [{ model: "opuss" }, /^MODEL_UNKNOWN: Unknown model 'opuss'\. Next: did you mean 'opus'\?/],
  [{ agent: "codr" }, /^AGENT_NOT_FOUND: Agent profile 'codr' not found .* did you mean 'coder'\?/],
  [{ skills: ["plna", "x"] }, /^SKILL_NOT_FOUND: Unknown skills: plna, x\. Next: did you mean 'plan'\?/],
])("%j is refused with the nearest name", async (wish, message) => {
  const { resolve } = await scene(FILES)
  expect(await failure(resolve(wish))).toMatch(message)
})

test.each([
  [
    "---\nname: [\n---\nx",
    /PROFILE_INVALID.*coder\.md cannot be used: front matter is not valid YAML \(line \d\)/,
  ],
  ["---\nsandbox: everything\n---\nx", /PROFILE_INVALID.*sandbox must be one of read-only/],
  ["x".repeat(1_048_577), /PROFILE_INVALID.*larger than 1 MiB/],
])("a damaged profile that is asked for is a failure (%#)", async (content, message) => {
  const { resolve } = await scene({ ".meridian/agents/coder.md": content })
  expect(await failure(resolve({ agent: "coder" }))).toMatch(message)
})

test("if the state is elsewhere, agents and skills are found there first and then in the project's .meridian", async () => {
  const { resolve } = await scene(
    {
      "elsewhere/agents/a.md": "There.",
      ".meridian/agents/a.md": "Here.",
      ".meridian/skills/plan/SKILL.md": "Plan.",
    },
    { MERIDIAN_STATE_ROOT: "elsewhere" },
  )
  const launch = await resolve({ agent: "a", skills: ["plan"] })
  expect([launch.agent?.body, launch.skills.map(({ body }) => body)]).toEqual(["There.", ["Plan."]])
})

test("folders of skills that link to each other are read once", async () => {
  const { resolve, project } = await scene(FILES)
  symlinkSync(join(project, ".meridian/skills"), join(project, ".meridian/skills/plan/loop"))
  symlinkSync(join(project, ".meridian/skills/plan"), join(project, ".opencode/skills/plan"))
  expect((await resolve({ skills: ["plan"] })).skills).toHaveLength(1)
})

test("references and variables are read, and unreadable ones are reported", async () => {
  const { resolve, project } = await scene({ ...FILES, "a.txt": "A\n", "fs/note.md": "N", "bin.dat": "a\0b" })
  const launch = await resolve({ agent: "coder" })
  const wish = {
    prompt: "Go {{K}}",
    files: ["a.txt", "@note.md"],
    variables: ["K=@a.txt"],
    cwd: project,
    spaceFs: join(project, "fs"),
    wantsReport: false,
  }
  const text = composeLaunch(wish, launch, { nativeAgent: false })
  expect(text.instructions).toBe("# Skill: plan\n\nPlan first.\n\n# Agent Profile\n\nYou write code.")
  expect(text.prompt).toBe(
    `# Reference: ${project}/a.txt\n\nA\n\n# Reference: ${project}/fs/note.md\n\nN\n\nGo A`,
  )
  const native = composeLaunch(wish, launch, { nativeAgent: true })
  expect(native.instructions).toBe("# Skill: plan\n\nPlan first.")
  expect(native.nativeAgent).toEqual({
    name: "coder",
    description: "Writes code",
    body: "You write code.",
    tools: ["Read", "Edit"],
  })
  const compose = (change: Partial<typeof wish>) =>
    failure((async () => composeLaunch({ ...wish, ...change }, launch, { nativeAgent: true }))())
  expect(await compose({ files: ["none.txt"] })).toMatch(
    `REFERENCE_NOT_FOUND: Reference file not found: ${project}/none.txt.`,
  )
  expect(await compose({ files: ["bin.dat"] })).toMatch("it is not a text file")
  expect(await compose({ files: ["."] })).toMatch("it is not a file")
  expect(await compose({ files: ["@../a.txt"] })).toMatch("it is outside the space's fs folder")
  expect(await compose({ files: ["@"] })).toMatch("Reference path after '@' must not be empty.")
  expect(await compose({ variables: ["K"] })).toMatch("Expected KEY=VALUE, got 'K'.")
  expect(await compose({ variables: ["K=@none"] })).toMatch(`'K' points to missing file: ${project}/none.`)
  expect(await compose({ variables: ["OTHER=1"] })).toMatch(
    "VARIABLE_UNDEFINED: Undefined template variables: K.",
  )
})

test.each([
  ["mcp-servers:\n  docs:\n    command: docs-server\n  web:\n    url: http://127.0.0.1:1", "docs, web"],
  ["mcpServers:\n  - docs\n  - web: {command: web-server}\n  - {name: own, command: x}", "docs, web, own"],
  ["mcp-servers: docs", "docs"],
])("a profile whose servers the engine does not start says so once: %j", async (lines, servers) => {
  const files = { ".meridian/agents/helper.md": `---\nname: helper\n${lines}\n---\nHelp.\n` }
  const { resolve, said } = await scene(files)
  await resolve({ agent: "helper", harness: "direct" })
  expect(said).toEqual([
    `WARNING [PROFILE_SERVERS_UNUSED]: Agent 'helper' names MCP servers that Direct does not start: ${servers}. Next: remove them from the profile, or use a harness that has them.`,
  ])
  const other = await scene(files)
  await other.resolve({ agent: "helper", harness: "claude" })
  expect(other.said).toEqual([])
})

test.each(["mcp-servers: []", "mcp-servers: {}", "mcp-servers:"])("%s names none", async (line) => {
  const { resolve, said } = await scene({ ".meridian/agents/helper.md": `---\n${line}\n---\nHelp.\n` })
  await resolve({ agent: "helper", harness: "direct" })
  expect(said).toEqual([])
})
