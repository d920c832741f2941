import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"
import { parse } from "smol-toml"
import { expect, test } from "vitest"

import { OPTION_KEYS, optionOf } from "../domain/config-option.ts"
import { configTemplate } from "../domain/config-template.ts"
import { setKey } from "../domain/config-text.ts"
import { createConfigFile, loadConfig, writeConfigEdit } from "./config-file.ts"

const folder = (): string => mkdtempSync(join(tmpdir(), "meridian-config-"))

const load = (root: string, env: Record<string, string> = {}, configPath?: string) =>
  loadConfig({ root, cwd: root, env, configPath })

const codeOf = async (act: Promise<unknown>): Promise<string> => {
  try {
    await act
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`
    throw error
  }
  return "no failure"
}

test("the template sets nothing, and gives every default once its comments are removed", () => {
  expect(Object.values(parse(configTemplate())).every((section) => JSON.stringify(section) === "{}")).toBe(
    true,
  )
  const open = parse(configTemplate().replaceAll(/^# (\w+ = )/gm, "$1"))
  for (const key of OPTION_KEYS) {
    const [section = "", name = ""] = key.split(".")
    const value: unknown = Object.entries(open[section] ?? {}).find(([leaf]) => leaf === name)?.[1]
    const fallback = optionOf(key).default ?? value
    expect([key, typeof value === "undefined", value]).toEqual([key, false, fallback])
  }
})

test("a wrong value stops with file, line and key; broken TOML with file and line", async () => {
  const root = folder()
  const path = join(root, "config.toml")
  writeFileSync(path, '# c\n[runs]\nmax_parallel = "many"\n')
  expect(await codeOf(load(root))).toBe(
    `CONFIG_INVALID: ${path}:3: 'runs.max_parallel' must be a whole number from 0 to 10000, got "many".`,
  )
  writeFileSync(path, "# c\n[runs]\nmax_parallel = = 3\n")
  expect(await codeOf(load(root))).toMatch(new RegExp(`^CONFIG_SYNTAX: ${path}:3: not valid TOML: `))
})

test("--config takes precedence over MERIDIAN_CONFIG, and a missing overlay is an error", async () => {
  const root = folder()
  writeFileSync(join(root, "one.toml"), "[runs]\nmax_parallel = 1\n")
  writeFileSync(join(root, "two.toml"), "[runs]\nmax_parallel = 2\n")
  const env = { MERIDIAN_CONFIG: join(root, "one.toml") }
  expect((await load(root, env)).config["runs.max_parallel"]).toBe(1)
  expect((await load(root, env, "two.toml")).config["runs.max_parallel"]).toBe(2)
  expect(await codeOf(load(root, {}, "none.toml"))).toBe(
    `CONFIG_NOT_FOUND: Configuration file not found: ${join(root, "none.toml")}.`,
  )
})

test("a byte order mark and Windows line ends change nothing", async () => {
  const root = folder()
  writeFileSync(join(root, "config.toml"), "\uFEFF[runs]\r\nmax_parallel = 3\r\n")
  const { config, settings } = await load(root)
  expect([config["runs.max_parallel"], settings.get("runs.max_parallel")?.line]).toEqual([3, 2])
})

test("an existing file is never overwritten", async () => {
  const path = join(folder(), "config.toml")
  expect(await createConfigFile(path, "one")).toBe(true)
  expect(await createConfigFile(path, "two")).toBe(false)
  expect(readFileSync(path, "utf8")).toBe("one")
})

test("an edit keeps the mode of the file and leaves no other file", async () => {
  const path = join(folder(), "config.toml")
  const before = configTemplate()
  writeFileSync(path, before, { mode: 0o600 })
  const after = setKey(before, "runs.max_parallel", "7")
  await writeConfigEdit({ path, before, after, key: "runs.max_parallel", expected: 7 })
  expect(readFileSync(path, "utf8")).toBe(after)
  expect(statSync(path).mode % 0o1000).toBe(0o600)
})

test.each([
  ["runs = { max_parallel = 1 }\n"],
  ["[runs]\nmax_parallel = 1\n[runs.deep]\nx = 1\n[[runs.list]]\n"],
])("an edit that would not say what was meant changes nothing: %j", async (before) => {
  const path = join(folder(), "config.toml")
  writeFileSync(path, before)
  const wrong = `${before}[runs]\nmax_parallel = 2\n`
  const edit = { path, before, after: wrong, key: "runs.max_parallel", expected: 2 } as const
  expect(await codeOf(writeConfigEdit(edit))).toMatch(/^CONFIG_NOT_EDITABLE/)
  expect(readFileSync(path, "utf8")).toBe(before)
})
