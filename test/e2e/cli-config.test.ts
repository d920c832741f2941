import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { verifies } from "../verifies.ts"
import { document, emptyFolder, meridian } from "./cli-binary.ts"

const setting = async (
  cwd: string,
  key: string,
  env: Readonly<Record<string, string>> = {},
  ...more: readonly string[]
): Promise<unknown> => document(await meridian(["config", "get", key, "--json", ...more], { cwd, env }))

verifies("config.init", async () => {
  const cwd = emptyFolder()
  const path = join(cwd, ".meridian/config.toml")
  expect(await meridian(["init"], { cwd })).toEqual({ stdout: `created: ${path}\n`, stderr: "", code: 0 })
  const text = readFileSync(path, "utf8")
  expect(text).toContain("[start]\n")
  expect(text).toContain("# auto_resume = true\n")
  expect(text.split("\n").filter((line) => /^[^#[\s]/.test(line))).toEqual([])
  writeFileSync(path, "# mine\n")
  expect((await meridian(["init"], { cwd })).stdout).toBe(`exists: ${path}\n`)
  expect(readFileSync(path, "utf8")).toBe("# mine\n")
})

test("set changes one line and keeps every comment; reset restores the first text", async () => {
  const cwd = emptyFolder()
  await meridian(["init"], { cwd })
  const path = join(cwd, ".meridian/config.toml")
  const before = readFileSync(path, "utf8")
  expect((await meridian(["config", "set", "start.auto_resume", "false"], { cwd })).stdout).toBe(
    `set start.auto_resume = false in ${path}\n`,
  )
  const after = readFileSync(path, "utf8")
  expect(after.split("\n").filter((line) => line !== "auto_resume = false")).toEqual(before.split("\n"))
  expect(await setting(cwd, "start.auto_resume")).toEqual({
    key: "start.auto_resume",
    value: false,
    source: "file",
    path,
    line: after.split("\n").indexOf("auto_resume = false") + 1,
  })
  expect((await meridian(["config", "reset", "auto_resume"], { cwd })).stdout).toBe(
    `reset start.auto_resume (removed) in ${path}\n`,
  )
  expect(readFileSync(path, "utf8")).toBe(before)
  expect((await meridian(["config", "reset", "auto_resume"], { cwd })).stdout).toContain("already-default")
})

verifies("config.layers", async () => {
  const cwd = emptyFolder()
  const key = "runs.max_parallel"
  expect(await setting(cwd, key)).toMatchObject({ value: 4, source: "builtin" })
  await meridian(["config", "set", key, "5"], { cwd })
  expect(await setting(cwd, key)).toMatchObject({ value: 5, source: "file" })
  writeFileSync(join(cwd, "six.toml"), "[runs]\nmax_parallel = 6\n")
  writeFileSync(join(cwd, "seven.toml"), "[runs]\nmax_parallel = 7\n")
  expect(await setting(cwd, key, { MERIDIAN_CONFIG: "six.toml" })).toMatchObject({
    value: 6,
    source: "user-config",
  })
  expect(await setting(cwd, key, { MERIDIAN_CONFIG: "six.toml" }, "--config", "seven.toml")).toMatchObject({
    value: 7,
  })
  expect(await setting(cwd, key, { MERIDIAN_CONFIG: "six.toml", MERIDIAN_MAX_PARALLEL: "8" })).toEqual({
    key,
    value: 8,
    source: "env var",
    env_var: "MERIDIAN_MAX_PARALLEL",
  })
  const shown = await meridian(["config", "show"], { cwd, env: { MERIDIAN_MAX_PARALLEL: "8" } })
  expect(shown.stdout).toContain("runs.max_parallel: 8 [source: env var (MERIDIAN_MAX_PARALLEL)]\n")
  expect(shown.stdout).toContain("defaults.max_depth: 3 [source: builtin]\n")
})

test("an unknown key warns with file and line; a wrong type stops with file, line and key", async () => {
  const cwd = emptyFolder()
  mkdirSync(join(cwd, ".meridian"))
  const path = join(cwd, ".meridian/config.toml")
  writeFileSync(path, "[start]\nauto_resum = true\n")
  const warned = await meridian(["config", "get", "auto_resume"], { cwd })
  expect(warned).toEqual({
    stdout: "true\n",
    stderr: `WARNING [CONFIG_KEY_UNKNOWN]: ${path}:2: unknown key 'start.auto_resum' is ignored. Next: did you mean 'start.auto_resume'?\n`,
    code: 0,
  })
  writeFileSync(path, '# c\n[start]\nauto_resume = "yes"\n')
  expect(await meridian(["config", "show"], { cwd })).toEqual({
    stdout: "",
    stderr: `ERROR [CONFIG_INVALID]: ${path}:3: 'start.auto_resume' must be true or false, got "yes". Next: correct the value, or remove it to use the default.\n`,
    code: 1,
  })
})

test.each([["space", "list"], ["run", "list"], ["doctor"], []])(
  "a missing configuration file is reported, even if nothing of it is needed: %s %s",
  async (...words) => {
    const cwd = emptyFolder()
    const env = { MERIDIAN_CONFIG: "none.toml" }
    const { stderr } = await meridian(words, { cwd, env })
    expect(stderr).toContain(
      `ERROR [CONFIG_NOT_FOUND]: Configuration file not found: ${join(cwd, "none.toml")}.`,
    )
  },
)

test("MERIDIAN_STATE_ROOT moves config.toml and models.toml with the rest of the state", async () => {
  const cwd = emptyFolder()
  const env = { MERIDIAN_STATE_ROOT: join(cwd, "elsewhere"), PATH: "/a/folder/that/is/not/there" }
  expect((await meridian(["init"], { cwd, env })).stdout).toBe(`created: ${cwd}/elsewhere/config.toml\n`)
  writeFileSync(join(cwd, "elsewhere/models.toml"), '[models.mine]\nharness = "codex"\naliases = ["m"]\n')
  expect(document(await meridian(["models", "show", "m", "--json"], { cwd, env }))).toEqual({
    model_id: "mine",
    aliases: ["m"],
    harness: "codex",
    usable: false,
    reason: "binary 'codex' not found on PATH",
  })
})

test("a wrong row of models.toml is reported with file, line and key", async () => {
  const cwd = emptyFolder()
  mkdirSync(join(cwd, ".meridian"))
  const path = join(cwd, ".meridian/models.toml")
  writeFileSync(path, '[[models]]\nid = "a"\nharness = "codex"\n\n[[models]]\nid = "b"\nharness = "vim"\n')
  expect((await meridian(["models", "list"], { cwd })).stderr).toBe(
    `ERROR [CONFIG_INVALID]: ${path}:7: 'harness' must be one of claude, codex, opencode, direct, got "vim". Next: correct the value, or remove it to use the default.\n`,
  )
})

test("skills are found in every root, the first of a name wins, and a damaged one is warned about", async () => {
  const cwd = emptyFolder()
  const write = (path: string, text: string): void => {
    mkdirSync(join(cwd, path), { recursive: true })
    writeFileSync(join(cwd, path, "SKILL.md"), text)
  }
  write(".claude/skills/plan", "---\ndescription: shadowed\n---\n")
  write(
    ".meridian/skills/plan",
    "---\nname: plan\ndescription: |\n  Plan\n  first\ntags: [a, b]\n---\nBody\n",
  )
  write(".opencode/skills/deep/review", "No front matter")
  write(".agents/skills/broken", "---\nname: [\n---\n")
  const env = { MERIDIAN_SPACE_ID: "s1" }
  const listed = await meridian(["skills", "list"], { cwd, env })
  expect(document(listed)).toEqual({
    skills: [
      {
        name: "plan",
        description: "Plan\nfirst",
        tags: ["a", "b"],
        path: join(cwd, ".meridian/skills/plan/SKILL.md"),
      },
      { name: "review", description: "", tags: [], path: join(cwd, ".opencode/skills/deep/review/SKILL.md") },
    ],
  })
  expect(listed.stderr).toMatch(
    /^WARNING \[PROFILE_SKIPPED\]: .*broken\/SKILL\.md was skipped: front matter is not valid YAML/,
  )
  const shown = await meridian(["skills", "show", "review", "--space", "s1"], { cwd })
  expect(shown.stdout).toBe("review: \n\nNo front matter\n")
  expect((await meridian(["skills", "show", "reveiw"], { cwd, env })).stderr).toMatch(
    /did you mean 'review'\?/,
  )
})
