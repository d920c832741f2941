import { expect } from "vitest"

import { verifies } from "../../verifies.ts"
import { BUG, GENERIC, type Sample, SPEC } from "./sample.ts"
import { briefOf } from "./tree.ts"

const comesOutEqual = async ({ tree, text, mode, artifact }: Sample): Promise<void> => {
  const brief = await briefOf(tree)
  expect(brief.text).toBe(text)
  expect([brief.mode, brief.artifact, brief.warnings, brief.leftOut]).toEqual([mode, artifact, [], 0])
}

verifies("brief.sample.generic", () => comesOutEqual(GENERIC))
verifies("brief.sample.spec", () => comesOutEqual(SPEC))
verifies("brief.sample.bug", () => comesOutEqual(BUG))
