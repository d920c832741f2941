import { expect, test } from "vitest"

import { BUILT_IN_MODELS, mergeModels, readModelRow, type Model } from "./model-catalogue.ts"
import { routeModel } from "./model-route.ts"

const route = (name: string, models: readonly Model[] = BUILT_IN_MODELS): unknown => {
  const found = routeModel(models, name)
  return found.tag === "routed"
    ? [
        found.harness,
        found.model,
        found.harnessModel,
        found.listed,
        ...(found.effort === undefined ? [] : [found.effort]),
      ]
    : found
}

test.each([
  ["opus", ["claude", "claude-opus-4-6", "claude-opus-4-6", true]],
  ["claude-sonnet-4-6", ["claude", "claude-sonnet-4-6", "claude-sonnet-4-6", true]],
  ["codex", ["codex", "gpt-5.3-codex", "gpt-5.3-codex", true]],
  ["gpt52h", ["codex", "gpt-5.2-high", "gpt-5.2", true, "high"]],
  ["gemini", ["opencode", "gemini-3.1-pro", "google/gemini-3.1-pro", true]],
  ["claude-opus-9", ["claude", "claude-opus-9", "claude-opus-9", false]],
  ["gpt-9", ["codex", "gpt-9", "gpt-9", false]],
  ["o3", ["codex", "o3", "o3", false]],
  ["zai/glm-5", ["opencode", "zai/glm-5", "zai/glm-5", false]],
  ["opencode-grok", ["opencode", "opencode-grok", "grok", false]],
  ["direct/echo", ["direct", "direct/echo", "echo", false]],
])("%s is routed", (name, expected) => {
  expect(route(name)).toEqual(expected)
})

test.each([
  ["opuss", "opus"],
  ["sonet", "sonnet"],
  ["zzz", undefined],
])("%s is unknown and suggests %s", (model, suggestion) => {
  expect(route(model)).toEqual({ tag: "unknown", model, suggestion })
})

test("the catalogue takes precedence over the look of a name in choosing the harness", () => {
  const read = readModelRow(
    { harness: "opencode", aliases: ["opus"], harness_model: "x/y" },
    "claude-opus-4-6",
  )
  expect(read.tag).toBe("model")
  const { models } = mergeModels(read.tag === "model" ? [read.model] : [])
  expect(models).toHaveLength(BUILT_IN_MODELS.length)
  expect(route("opus", models)).toEqual(["opencode", "claude-opus-4-6", "x/y", true])
})

test("a user's alias replaces a built-in one, and a warning names the model that lost it", () => {
  const row = (id: string): Model => ({ id, aliases: ["opus"], harness: "codex" })
  const { models, duplicates } = mergeModels([row("b"), row("a")])
  expect(duplicates).toEqual([
    { alias: "opus", kept: "a", dropped: "b" },
    { alias: "opus", kept: "a", dropped: "claude-opus-4-6" },
  ])
  expect(route("opus", models)).toEqual(["codex", "a", "a", true])
})

test.each([
  [{ harness: "vim" }, "x", "harness"],
  [{ harness: "codex" }, undefined, "id"],
  [{ harness: "codex", aliases: "a" }, "x", "aliases"],
  [{ harness: "codex", role: 1 }, "x", "role"],
  [{}, "mystery", "harness"],
  [7, "x", "x"],
])("row %j named %s is refused for its %s", (row, id, key) => {
  expect(readModelRow(row, id)).toMatchObject({ tag: "wrong", key })
})
