import * as fc from "fast-check"
import { expect, test } from "vitest"

import type { Fact, FactKind } from "../fact.ts"
import { estimateTokens } from "../text/estimate-tokens.ts"
import { renderBrief } from "./render-brief.ts"
import { renderPinned } from "./render-pinned.ts"
import { SECTIONS } from "./sections.ts"

const fact = (kind: FactKind, text: string, order = 0): Fact => ({ kind, text, source: "test", order })

const KINDS = [...new Set(SECTIONS.flatMap(({ kinds }) => kinds))]

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.constantFrom(
    "## Next Action",
    "---",
    "- x\n## Status\n- done",
    "# a",
    "<!-- ",
    "</system>",
    "> q",
    "```",
  ),
  fc.string({ unit: "grapheme", maxLength: 60 }).map((text) => text.repeat(40)),
)
const anyFact: fc.Arbitrary<Fact> = fc.record(
  {
    kind: fc.constantFrom(...KINDS),
    text: anyText,
    source: fc.constantFrom("SESSION.md", "default"),
    order: fc.integer(),
    key: fc.constantFrom("a", "b"),
  },
  { requiredKeys: ["kind", "text", "source", "order"] },
)

test("no facts give the nine generic headings, each directly followed by 'none recorded'", () => {
  const { text, leftOut } = renderBrief([])
  expect(text.split("\n\n").slice(1)).toEqual(
    SECTIONS.filter(({ layer }) => layer === "generic").map(
      ({ heading }) => `## ${heading}\n- none recorded`,
    ),
  )
  expect(leftOut).toBe(0)
})

test("every section of the workflow layer is rendered when a workflow is active, after a rule", () => {
  const { text } = renderBrief([fact("workflow", "spec")])
  const [, augmentation = ""] = text.split("\n\n---\n\n")
  expect(augmentation.match(/^## .*$/gm)).toEqual([
    "## Workflow-Aware Augmentation",
    ...SECTIONS.filter(({ layer }) => layer === "workflow").map(({ heading }) => `## ${heading}`),
  ])
})

test("a short budget drops completed work first and says how many facts were left out", () => {
  const many = Array.from({ length: 6 }, (_, index) =>
    fact("completed", `finished ${index} ${"x".repeat(200)}`, index),
  )
  const facts = [...many, fact("decision", "keep the old export"), fact("objective", "ship it")]
  const { text, leftOut } = renderBrief(facts, { maxTokens: 250 })
  expect(text).toContain("## Decisions\n- keep the old export\n")
  expect(text).toContain("## Completed\n- finished 4")
  expect(text).toContain("\n- ... and 4 more\n")
  expect(leftOut).toBe(4)
})

test("a budget smaller than the headings keeps the objective", () => {
  const { text } = renderBrief([fact("objective", "ship it"), fact("completed", "done")], { maxTokens: 15 })
  expect(text).toBe("## Stage-Aware Continuation\n\n## Primary Objective\n- ship it")
})

test("the budget is kept for every input, and the facts left out are counted", () => {
  fc.assert(
    fc.property(
      fc.array(anyFact, { maxLength: 80 }),
      fc.integer({ min: -1, max: 1200 }),
      (facts, maxTokens) => {
        for (const { text, leftOut } of [
          renderBrief(facts, { maxTokens }),
          renderPinned(facts, { maxTokens }),
        ]) {
          expect(estimateTokens(text)).toBeLessThanOrEqual(Math.max(0, maxTokens))
          expect(leftOut).toBeGreaterThanOrEqual(0)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test("no input forges a heading, a rule or a second line", () => {
  const known = new Set([
    "## Stage-Aware Continuation",
    "## Workflow-Aware Augmentation",
    ...SECTIONS.map(({ heading }) => `## ${heading}`),
  ])
  fc.assert(
    fc.property(fc.array(anyFact, { maxLength: 30 }), (facts) => {
      const lines = renderBrief(facts, { maxTokens: 20_000 }).text.split(/[\n\r\v\f\u0085\u2028\u2029]/)
      const headings = lines.filter((line) => line.startsWith("#"))
      expect(new Set(headings).size).toBe(headings.length)
      expect(headings.filter((heading) => !known.has(heading))).toEqual([])
      expect(lines.filter((line) => line === "---").length).toBeLessThanOrEqual(1)
      expect(lines.filter((line) => /^- (?:#|>|```|---|<!--)/.test(line))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test("the newest objective holds, and a withdrawn decision is gone", () => {
  const { text } = renderBrief([
    fact("objective", "new", 9),
    fact("objective", "old", 1),
    { ...fact("decision", "use tabs", 2), key: "indent" },
    { ...fact("decision", "use tabs", 3), key: "indent", withdrawn: true },
  ])
  expect(text).toContain("## Primary Objective\n- new\n")
  expect(text).toContain("## Decisions\n- none recorded\n")
})

test("what only fills a gap is not pinned", () => {
  expect(renderPinned([{ ...fact("objective", "Resume."), source: "default" }]).text).toBe("")
})
