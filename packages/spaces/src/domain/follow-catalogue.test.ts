import { expect, test } from "vitest"

import { followCatalogue } from "./follow-catalogue.ts"
import { BUILT_IN_MODELS, type Model } from "./model-catalogue.ts"
import { parseLimits } from "./model-limits.ts"
import { MODEL_SNAPSHOT } from "./model-snapshot.ts"

const OPUS: Model = {
  id: "claude-opus-4-6",
  aliases: ["opus"],
  harness: "claude",
  role: "All-rounder",
  costTier: "$$$",
}
const GEMINI: Model = {
  id: "gemini-3.1-pro",
  aliases: ["gemini"],
  harness: "opencode",
  harnessModel: "google/gemini-3.1-pro",
}
const ids = (models: readonly Model[]) => models.map(({ id, aliases }) => [id, ...aliases])

test("an alias moves to the newest of its family, and its old row stays without it", () => {
  const known = ["anthropic/claude-opus-4-6", "anthropic/claude-opus-5", "anthropic/claude-opus-4-10"]
  expect(followCatalogue([OPUS], known)).toEqual([
    { ...OPUS, id: "claude-opus-5" },
    { id: "claude-opus-4-6", aliases: [], harness: "claude", role: "Earlier version", costTier: "$$$" },
  ])
})

test.each([
  ["the catalogue is empty", []],
  ["it is the newest", ["anthropic/claude-opus-4-6", "anthropic/claude-opus-4-5"]],
  ["the others are of other kinds", ["anthropic/claude-sonnet-9", "openrouter/anthropic/claude-opus-9"]],
  [
    "the others carry a date or a name",
    ["anthropic/claude-opus-4-6", "anthropic/claude-opus-5-20991231", "anthropic/claude-opus-latest"],
  ],
])("an alias stays where it is when %s", (_why, known) => {
  expect(followCatalogue([OPUS], known)).toEqual([OPUS])
})

test("ten is newer than nine, and a harness that names the provider keeps doing so", () => {
  const known = ["google/gemini-3.9-pro", "google/gemini-3.10-pro-preview"]
  expect(followCatalogue([GEMINI], known)[0]).toEqual({
    ...GEMINI,
    id: "gemini-3.10-pro-preview",
    harnessModel: "google/gemini-3.10-pro-preview",
  })
})

test("every alias of the built-in rows is given once, to a model of the bundled catalogue", () => {
  const limits = parseLimits(MODEL_SNAPSHOT)
  const rows = followCatalogue(BUILT_IN_MODELS, limits.models.keys())
  expect(ids(rows).filter((row) => row.length > 1)).toEqual([
    ["claude-opus-5-5", "opus"],
    ["claude-sonnet-5-5", "sonnet"],
    ["claude-haiku-5-5", "haiku"],
    ["gpt-5.3-codex", "codex"],
    ["gpt-5.2-high", "gpt52h"],
    ["gemini-3.1-pro-preview", "gemini"],
  ])
})
