import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

import { installPretendHarness } from "@meridian/testkit"
import { expect, test } from "vitest"

import { BINARY, emptyFolder, SEARCH_PATH } from "./cli-binary.ts"

const cwd = emptyFolder()
const bin = join(emptyFolder(), "bin")
const env = {
  PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
  HOME: emptyFolder(),
  MERIDIAN_REPO_ROOT: cwd,
}

const PROBE = `
import { appendFileSync } from "node:fs"
import { registerHooks } from "node:module"
registerHooks({ load: (url, context, next) => { appendFileSync(process.env.PROBE_FILES, url + "\\n"); return next(url, context) } })
`

/** The text of every file of Meridian that a command loads. */
const loadedBy = (...args: readonly string[]): readonly string[] => {
  const folder = emptyFolder()
  const files = join(folder, "files.txt")
  writeFileSync(join(folder, "probe.mjs"), PROBE)
  const ran = spawnSync(process.execPath, ["--import", join(folder, "probe.mjs"), BINARY, ...args], {
    cwd,
    env: { ...env, PROBE_FILES: files },
    encoding: "utf8",
  })
  if (ran.status !== 0) throw new Error(`${args.join(" ")}: ${ran.stderr}`)
  return readFileSync(files, "utf8")
    .split("\n")
    .filter((url) => url.startsWith("file:"))
    .map((url) => readFileSync(fileURLToPath(url), "utf8"))
}

/** Text found in the code of each part that is loaded only on use. */
const MARKS = {
  toml: "trying to redefine",
  yaml: "Unresolved alias",
  mcp: "notifications/initialized",
  harness: "stream-json",
  http: "UND_ERR_CONNECT_TIMEOUT",
}

const partsLoadedBy = (...args: readonly string[]): readonly string[] => {
  const texts = loadedBy(...args)
  return Object.entries(MARKS).flatMap(([part, mark]) =>
    texts.some((text) => text.includes(mark)) ? [part] : [],
  )
}

test("help loads the entry and one file, and no builtin of Node through a facade", () => {
  const texts = loadedBy("--help")
  expect(texts.length).toBeLessThanOrEqual(3)
  expect(texts.join("").match(/(?:from|import)\s*["']node:/g)).toBeNull()
})

test("reading runs loads neither TOML, YAML, MCP nor harness code", () => {
  installPretendHarness(bin, { as: "claude" })
  spawnSync(process.execPath, [BINARY, "run", "spawn", "-p", "x"], { cwd, env })
  for (const args of [
    ["--help"],
    ["run", "list", "--space", "s1"],
    ["run", "show", "r1", "--space", "s1"],
    ["space", "list"],
    ["models", "list"],
    ["config", "show"],
  ])
    expect([args.join(" "), partsLoadedBy(...args)]).toEqual([args.join(" "), []])
})

test("each part is loaded by the command that uses it, so the marks above can be found", () => {
  mkdirSync(join(cwd, ".meridian/skills/plan"), { recursive: true })
  writeFileSync(join(cwd, ".meridian/skills/plan/SKILL.md"), "---\nname: plan\n---\n")
  writeFileSync(join(cwd, ".meridian/models.toml"), '[models.x]\nharness = "codex"\n')
  expect(partsLoadedBy("models", "list")).toEqual(["toml"])
  expect(partsLoadedBy("skills", "list", "--space", "s1")).toEqual(["yaml"])
  expect(partsLoadedBy("serve")).toEqual(["mcp"])
  expect(partsLoadedBy("run", "spawn", "-p", "x", "--dry-run")).toEqual(["toml", "harness"])
})

test("the engine is loaded only to run a session: not to plan one, not to look at runs", () => {
  const engine = "insert into owner"
  const shipped = globSync(join(dirname(BINARY), "**/*.js")).map((file) => readFileSync(file, "utf8"))
  expect(shipped.some((text) => text.includes(engine))).toBe(true)
  for (const args of [
    ["run", "spawn", "--harness", "direct", "-p", "x", "--dry-run"],
    ["start", "--harness", "direct", "--dry-run"],
    ["run", "list", "--space", "s1"],
  ])
    expect([args.join(" "), loadedBy(...args).some((text) => text.includes(engine))]).toEqual([
      args.join(" "),
      false,
    ])
})

test("no command prints anything but its own words, and no warnings of Node", () => {
  for (const args of [
    ["--help"],
    ["init"],
    ["doctor"],
    ["models", "list"],
    ["run", "list", "--space", "s1"],
  ]) {
    const { stderr } = spawnSync(process.execPath, [BINARY, ...args], { cwd, env, encoding: "utf8" })
    expect([args.join(" "), stderr]).toEqual([args.join(" "), ""])
  }
})

test("an init-ed configuration in which nothing is set costs no TOML parser", () => {
  const project = emptyFolder()
  const ran = spawnSync(process.execPath, [BINARY, "init"], {
    cwd: project,
    env: { ...env, MERIDIAN_REPO_ROOT: project },
  })
  const path = join(project, ".meridian/config.toml")
  expect([ran.status, existsSync(path)]).toEqual([0, true])
  expect(partsLoadedBy("config", "show", "--config", path)).toEqual([])
})

test("compiled code is kept in the temporary folder only under a directory no other user can write", () => {
  const name = `meridian-compile-${process.getuid?.()}`
  const start = (prepare: (temporary: string) => void): readonly (readonly string[])[] => {
    const [temporary, home] = [emptyFolder(), emptyFolder()]
    prepare(temporary)
    const ran = spawnSync(process.execPath, [BINARY, "--help"], {
      cwd,
      env: { ...env, TMPDIR: temporary, HOME: home },
    })
    expect(ran.status).toBe(0)
    const inside = join(temporary, name)
    return [existsSync(inside) ? readdirSync(inside) : [], readdirSync(home)]
  }
  const used = (folders: readonly (readonly string[])[]): readonly boolean[] =>
    folders.map(({ length }) => length > 0)
  expect(used(start(() => {}))).toEqual([true, false])
  const open = (temporary: string): void => {
    mkdirSync(join(temporary, name))
    chmodSync(join(temporary, name), 0o777)
  }
  expect(used(start(open))).toEqual([false, true])
})

test("the entry reads on an old Node: no import, and nothing newer than its syntax", () => {
  const entry = readFileSync(BINARY, "utf8")
  expect(entry.startsWith("#!/usr/bin/env node\n")).toBe(true)
  expect(entry.match(/^import[\s{*"']/m)).toBeNull()
  expect(entry).toContain("NODE_TOO_OLD")
})
