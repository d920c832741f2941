import { expect, test } from "vitest"

import { configTemplate, toTomlValue } from "./config-template.ts"
import { findKey, keyLines, removeKey, setKey } from "./config-text.ts"

const FILE = `# mine
top.deep = 1
[start] # first
auto_resume = true   # keep me

[search_paths]
agents = [
  "a", # one
  "b]",
]
skills = 'x = y # no comment'
`

test("keys are found with their lines, through sections, dots and values of several lines", () => {
  expect(Object.fromEntries(keyLines(FILE))).toEqual({
    "top.deep": 2,
    start: 3,
    "start.auto_resume": 4,
    search_paths: 6,
    "search_paths.agents": 7,
    "search_paths.skills": 11,
  })
})

test("setting a key changes only its value and keeps the comment after it", () => {
  expect(setKey(FILE, "start.auto_resume", "false")).toBe(FILE.replace("= true   # keep", "= false   # keep"))
})

test("a value of several lines is replaced whole, and the comments inside it move above", () => {
  expect(setKey(FILE, "search_paths.agents", '["c"]')).toBe(
    FILE.replace(/agents = \[.*?\n\]/s, '# one\nagents = ["c"]'),
  )
})

test("a new key comes after its commented example, and removing it restores the first text", () => {
  const template = configTemplate()
  const set = setKey(template, "runs.max_parallel", "8")
  expect(set).toBe(template.replace("# max_parallel = 4\n", "# max_parallel = 4\nmax_parallel = 8\n"))
  expect(removeKey(set, "runs.max_parallel")).toBe(template)
})

test.each([
  ["[start]\nx = 1\n", "[start]\nauto_resume = false\nx = 1\n"],
  ["[start]", "[start]\nauto_resume = false\n"],
  ["", "[start]\nauto_resume = false\n"],
  ["[other]\nx = 1", "[other]\nx = 1\n\n[start]\nauto_resume = false\n"],
  ["[start]\r\nx = 1\r\n", "[start]\r\nauto_resume = false\r\nx = 1\r\n"],
  ["# [start]\n", "# [start]\n\n[start]\nauto_resume = false\n"],
])("a new key finds its place in %j", (before, after) => {
  expect(setKey(before, "start.auto_resume", "false")).toBe(after)
})

test("a key inside a text or a comment is not a key", () => {
  const text = '[start]\nnote = """\nauto_resume = 1\n"""\n# auto_resume = 2\n'
  expect(findKey(text, "start.auto_resume")).toBeUndefined()
})

test("an unfinished text or list ends with the file instead of hanging", () => {
  expect(removeKey('[start]\nauto_resume = ["x', "start.auto_resume")).toBe("[start]\n")
  expect(removeKey('[start]\nauto_resume = """x\n', "start.auto_resume")).toBe("[start]\n")
})

test("control characters are escaped as TOML wants", () => {
  expect(toTomlValue('a"b\n\u007F')).toBe(String.raw`"a\"b\n\u007f"`)
})
