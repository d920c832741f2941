import { expect, test } from "vitest"

import { renderBrief } from "./brief/render-brief.ts"
import { SECTIONS } from "./brief/sections.ts"
import type { Fact } from "./fact.ts"
import { READ_LIMITS, TEXT_LIMITS } from "./limits.ts"
import { estimateTokens } from "./text/estimate-tokens.ts"

test("what may be read fits together, and leaves a hook of 250 ms room to work", () => {
  expect(READ_LIMITS.lineLength).toBeLessThan(READ_LIMITS.fileBytes)
  // SESSION.md, AGENTS.md and the five artifacts of a workflow may all have the maximum size.
  expect(READ_LIMITS.fileBytes * 7).toBeLessThan(READ_LIMITS.totalBytes)
  expect(READ_LIMITS.folderEntries).toBeLessThan(READ_LIMITS.operations)
  expect(READ_LIMITS.patientOperations).toBeLessThan(READ_LIMITS.operations)
  expect(READ_LIMITS.timeMs).toBeLessThanOrEqual(125)
})

test("the essential sections, each with one bullet of full length, fit into the default budget with all headings", () => {
  const facts = SECTIONS.map(({ kinds }, order): Fact => ({
    kind: kinds[0] ?? "status",
    text: "x".repeat(TEXT_LIMITS.bulletLength),
    source: "test",
    order,
  }))
  const { text } = renderBrief(facts)
  expect(estimateTokens(text)).toBeLessThanOrEqual(TEXT_LIMITS.briefTokens)
  expect(text.match(/^## /gm)?.length).toBe(SECTIONS.length + 2)
  const essential = text.split("\n\n").filter((block) => block.includes("x".repeat(TEXT_LIMITS.bulletLength)))
  expect(essential.map((block) => block.split("\n")[0])).toEqual(
    expect.arrayContaining([
      "## Primary Objective",
      "## Decisions",
      "## Blockers / Risks",
      "## Next Action",
      "## Canonical Workflow Stage",
      "## Transition Gate",
    ]),
  )
})
