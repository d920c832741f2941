import * as fc from "fast-check"
import { expect, test } from "vitest"

import { estimateTokens } from "../text/estimate-tokens.ts"
import { renderRules } from "./render-rules.ts"
import { readRule, type Rule } from "./rule.ts"

const rule = (path: string, text: string): Rule => readRule({ path, folder: "rules", text })

test("no rules, or rules without a text, are no block", () => {
  expect(renderRules([])).toEqual({ text: "", leftOut: [] })
  expect(renderRules([rule("a.md", " \n")])).toEqual({ text: "", leftOut: [] })
})

test("a small budget holds a small rule, and what is left out is named where there is room to name it", () => {
  const short = rule("a.md", "Short.")
  const long = rule("b.md", "long ".repeat(200))
  expect(renderRules([short], 30).text).toContain("## a.md\n\nShort.")
  expect(renderRules([short, long], 30)).toEqual({ text: renderRules([short]).text, leftOut: [long] })
  expect(renderRules([short, long], 200).text).toContain(
    "Left out for lack of room, read them before you touch what they govern: b.md",
  )
  expect(renderRules([long], 5)).toEqual({ text: "", leftOut: [long] })
})

test("the block never costs more than it may, and says what it leaves out", () => {
  const text = fc.string({ maxLength: 3000, unit: fc.constantFrom("word ", "日本", "\n", "# ") })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), fc.integer({ min: 1, max: 3000 }), (bodies, budget) => {
      const rules = bodies.map((body, at) => rule(`r${at}.md`, body))
      const rendered = renderRules(rules, budget)
      expect(estimateTokens(rendered.text)).toBeLessThanOrEqual(budget)
      expect(rendered.text.includes("Left out for lack of room") && rendered.leftOut.length === 0).toBe(false)
      const shown = rules.filter(({ path }) => rendered.text.includes(`## ${path}\n`))
      expect(shown.length + rendered.leftOut.length).toBe(rules.filter(({ body }) => body !== "").length)
    }),
  )
})
