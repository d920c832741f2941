import { expect, test } from "vitest"

import { configOf, layerConfig } from "./config-layer.ts"
import { keyLines } from "./config-text.ts"

const file = (source: "file" | "user-config", tree: unknown, text: string) => ({
  path: `${source}.toml`,
  source,
  tree,
  lines: keyLines(text),
})

test("later layers win: defaults, the file, the overlay, variables", () => {
  const base = file(
    "file",
    { runs: { max_parallel: 2 }, defaults: { max_depth: 5, max_retries: 7 } },
    "[runs]\nmax_parallel = 2\n[defaults]\nmax_depth = 5\nmax_retries = 7\n",
  )
  const overlay = file(
    "user-config",
    { defaults: { max_depth: 6, max_retries: 8 } },
    "[defaults]\nmax_depth = 6",
  )
  const { settings, unknown, wrong } = layerConfig([base, overlay], {
    MERIDIAN_MAX_RETRIES: "9",
    MERIDIAN_MAX_DEPTH: "",
  })
  expect([unknown, wrong]).toEqual([[], []])
  const keys = [
    "start.auto_resume",
    "runs.max_parallel",
    "defaults.max_depth",
    "defaults.max_retries",
  ] as const
  expect(keys.map((key) => [key, settings.get(key)])).toEqual([
    ["start.auto_resume", { value: true, source: "builtin" }],
    ["runs.max_parallel", { value: 2, source: "file", path: "file.toml", line: 2 }],
    ["defaults.max_depth", { value: 6, source: "user-config", path: "user-config.toml", line: 2 }],
    ["defaults.max_retries", { value: 9, source: "env var", variable: "MERIDIAN_MAX_RETRIES" }],
  ])
  expect(configOf(settings)["defaults.max_retries"]).toBe(9)
})

test("unknown keys are reported with file, line and the nearest known one", () => {
  const text = "[start]\nauto_resum = true\n[what]\nx = 1\n"
  const { unknown } = layerConfig([file("file", { start: { auto_resum: true }, what: { x: 1 } }, text)], {})
  expect(unknown).toEqual([
    { path: "file.toml", line: 2, key: "start.auto_resum", suggestion: "start.auto_resume" },
    { path: "file.toml", line: 4, key: "what.x", suggestion: undefined },
  ])
})

test.each([
  [{ start: { auto_resume: "yes" } }, "file.toml:2", "true or false", '"yes"'],
  [{ start: { auto_resume: 1 } }, "file.toml:2", "true or false", "1"],
])("a wrong type in a file is told with file, line and key: %j", (tree, where, expected, got) => {
  const { wrong } = layerConfig([file("file", tree, "[start]\nauto_resume = 1\n")], {})
  expect(wrong).toEqual([{ key: "start.auto_resume", where, expected, got }])
})

test.each([
  ["runs", "max_parallel", -1, "a whole number from 0 to 10000"],
  ["runs", "max_parallel", 1.5, "a whole number from 0 to 10000"],
  ["permissions", "default_tier", "danger", "one of read-only, workspace-write, full-access"],
  ["primary", "autocompact_pct", 101, "a whole number from 1 to 100"],
  ["search_paths", "agents", ["a", 1], "a list of texts"],
  ["harness", "default", "cursor", "one of claude, codex, opencode, direct"],
])("%s.%s = %j is outside its bounds", (section, name, value, expected) => {
  const { wrong } = layerConfig(
    [file("file", { [section]: { [name]: value } }, `[${section}]\n${name} = 0\n`)],
    {},
  )
  expect(wrong.map((entry) => entry.expected)).toEqual([expected])
})

test("a wrong variable is reported by its name", () => {
  expect(layerConfig([], { MERIDIAN_MAX_DEPTH: "many" }).wrong).toEqual([
    {
      key: "defaults.max_depth",
      where: "MERIDIAN_MAX_DEPTH",
      expected: "a whole number from 0 to 100",
      got: '"many"',
    },
  ])
})
