import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import { LIMIT } from "../domain/limit.ts"
import { loadConfig } from "./config-file.ts"
import { findAgent, listAgents, listSkills, recordedPath } from "./profiles.ts"

const scene = async (files: Readonly<Record<string, string>> = {}) => {
  const base = mkdtempSync(join(tmpdir(), "meridian-profiles-"))
  const [project, home] = [join(base, "project"), join(base, "home")]
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  for (const [path, content] of Object.entries(files)) write(join(project, path), content)
  mkdirSync(home, { recursive: true })
  const { config } = await loadConfig({
    root: join(project, ".meridian"),
    cwd: base,
    env: {},
    configPath: undefined,
  })
  const link = (path: string, target: string): void => {
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(target, path)
  }
  return {
    base,
    project,
    home,
    write,
    link,
    request: { project, root: join(project, ".meridian"), home, config },
  }
}

const problemOf = async (act: Promise<unknown>): Promise<string> => {
  try {
    await act
    return "none"
  } catch (error) {
    return error instanceof Failure ? error.message : String(error)
  }
}

test("a link inside the project is followed, and so is one within the home for the user's own", async () => {
  const { project, home, link, write, request } = await scene({
    "prompts/one.md": "---\nname: one\n---\nOne.\n",
  })
  link(join(project, ".claude/agents/one.md"), "../../prompts/one.md")
  write(join(home, "dotfiles/two.md"), "Two.\n")
  link(join(home, ".claude/agents/two.md"), "../../dotfiles/two.md")
  expect((await listAgents(request)).found.map(({ name, body }) => [name, body])).toEqual([
    ["one", "One."],
    ["two", "Two."],
  ])
})

test("a user's own link that leaves the home is refused", async () => {
  const { base, home, link, write, request } = await scene()
  write(join(base, "elsewhere.md"), "Elsewhere.\n")
  link(join(home, ".claude/agents/agent.md"), join(base, "elsewhere.md"))
  expect(await problemOf(findAgent(request, "agent"))).toContain(`it is a link that leads out of ${home}`)
})

test("a profile may have at most 1 MiB, and its front matter has its own bound", async () => {
  const { project, write, request } = await scene()
  const path = join(project, ".claude/agents/agent.md")
  const big = (bytes: number): string => "x".repeat(bytes)
  write(path, big(LIMIT.documentBytes))
  expect((await findAgent(request, "agent"))?.body).toHaveLength(LIMIT.documentBytes)
  write(path, big(LIMIT.documentBytes + 1))
  expect(await problemOf(findAgent(request, "agent"))).toContain("larger than 1 MiB")
  const yaml = (bytes: number): string => `---\ndescription: ${big(bytes - 14)}\n---\nBody\n`
  write(path, yaml(LIMIT.frontMatterBytes))
  expect((await findAgent(request, "agent"))?.body).toBe("Body")
  write(path, yaml(LIMIT.frontMatterBytes + 1))
  expect(await problemOf(findAgent(request, "agent"))).toContain(
    "its front matter is larger than 32768 bytes",
  )
})

test.each([
  ["a thousand levels", `a: ${"[".repeat(1_000)}${"]".repeat(1_000)}`],
  [
    "aliases of aliases",
    `a: &a [x]\n${Array.from({ length: 30 }, (_, at) => `b${at}: &b${at} [${at === 0 ? "*a" : `*b${at - 1}, *b${at - 1}`}]`).join("\n")}`,
  ],
])("front matter with %s is refused", async (_what, yaml) => {
  const { request } = await scene({ ".claude/agents/agent.md": `---\n${yaml}\n---\nBody\n` })
  expect(await problemOf(findAgent(request, "agent"))).toContain("front matter is not valid YAML")
})

test("a folder with too many files is reported", async () => {
  const { project, write, request } = await scene()
  for (let index = 0; index <= LIMIT.folderEntries; index += 1)
    write(join(project, `.claude/agents/a${String(index).padStart(5, "0")}.md`), "x")
  const { found, warnings } = await listAgents(request)
  expect([found.length, warnings.map(({ cause }) => cause)]).toEqual([
    LIMIT.folderEntries,
    [
      `${project}/.claude/agents was skipped: it holds more than ${LIMIT.folderEntries} files; the rest is not looked at.`,
    ],
  ])
})

test("a pipe among skills blocks nothing", async () => {
  const { project, request } = await scene({ ".claude/skills/good/SKILL.md": "Good.\n" })
  mkdirSync(join(project, ".claude/skills/bad"))
  execFileSync("mkfifo", [join(project, ".claude/skills/bad/SKILL.md")])
  const { found, warnings } = await listSkills(request)
  expect([found.map(({ name }) => name), warnings.length]).toEqual([["good"], 1])
})

test("a record may name files of the project and of searched folders, and no others", async () => {
  const { project, home, request } = await scene()
  const path = (file: string): string | undefined => recordedPath(file, request)?.root
  expect([
    path(join(project, "old/agent.md")),
    path(join(home, ".claude/agents/agent.md")),
    path(join(home, ".ssh/id_ed25519")),
    path("/etc/passwd"),
    path("relative.md"),
    path(join(project, "../home/.ssh/id_ed25519")),
  ]).toEqual([project, home, undefined, undefined, undefined, undefined])
})
