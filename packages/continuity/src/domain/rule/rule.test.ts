import * as fc from "fast-check"
import { expect, test } from "vitest"

import { evaluateRules } from "./evaluate.ts"
import { FRONT_MATTER_LIMIT, readFrontMatter } from "./front-matter.ts"
import { readRule, RULE_LIMITS, type Rule } from "./rule.ts"

const rule = (text: string): Rule => readRule({ path: "r.md", folder: "rules", text })

test("any text at all is a rule of some kind, and reading it never throws", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("-", "\n", ":", " ", "a", "[", "]", "{", "*", "&", "!", "'", '"', "#", "|"),
      }),
      (text) => {
        const { activation } = rule(text)
        evaluateRules([rule(text)], { paths: ["a/b.ts"], prompt: text })
        expect(["always", "when", "never"]).toContain(activation.kind)
      },
    ),
    { numRuns: 2000 },
  )
})

test("a front matter that names a condition is never unconditional", () => {
  const key = fc.constantFrom(
    "globs",
    "keywords",
    "tools",
    "model",
    "agent",
    "command",
    "project",
    "branch",
    "os",
    "paths",
    "applyTo",
  )
  fc.assert(
    fc.property(
      key,
      fc.string({
        minLength: 1,
        unit: fc.constantFrom("a", "*", "/", "[", "]", "{", "}", ",", ":", "'", '"', "&", "!", "-", " "),
      }),
      (name, value) => {
        const { activation } = rule(`---\n${name}: ${value}\n---\nBody`)
        // A value of only blanks, commas, quotes and brackets counts as no key.
        const silent = /^[\s,'"[\]-]*$/.test(value)
        expect(activation.kind === "always" && !silent).toBe(false)
      },
    ),
    { numRuns: 2000 },
  )
})

test("a text without front matter keeps every word", () => {
  fc.assert(
    fc.property(
      fc
        .string({ unit: fc.constantFrom("a", "b", " ", "\n", "#") })
        .filter((text) => !text.startsWith("---")),
      (text) => {
        expect(rule(text).body).toBe(text.trim())
      },
    ),
  )
})

test.each([
  ["\uFEFF---\r\nglobs: ['*.ts']\r\n---\r\nBody\r\n", "when"],
  ["---\n---\nBody", "always"],
  ["---\n# only a comment\n---\nBody", "always"],
  ["---\ndescription: a rule\nversion: 2\n---\nBody", "always"],
  ["---\nglobs:\nalwaysApply: true\n---\nBody", "always"],
  ["---\nglobs: ['*.ts']\nalwaysApply: true\n---\nBody", "always"],
  ["---\nglobs: []\n---\nBody", "always"],
  ["---\nglobs: ['*.ts']\n...\nBody", "when"],
])("%j is read as %s", (text, kind) => {
  expect(rule(text)).toMatchObject({ body: "Body", activation: { kind } })
})

test("a dash line inside a value or after the front matter ends nothing", () => {
  expect(rule("---\nkeywords: [a]\nnote: 'x --- y'\n---\nBody\n\n---\n\nMore").body).toBe(
    "Body\n\n---\n\nMore",
  )
})

test("the front matter may be as long as its limit and no longer", () => {
  const matter = (length: number): string => `---\nkeywords: [a]\nx: ${"y".repeat(length)}\n---\nBody`
  const fixed = matter(0).length - "---\nBody".length
  expect(readFrontMatter(matter(FRONT_MATTER_LIMIT - fixed)).kind).toBe("read")
  expect(readFrontMatter(matter(FRONT_MATTER_LIMIT - fixed + 1)).kind).toBe("malformed")
})

test("a list may have as many items as its limit and no more", () => {
  const list = (count: number): string => `---\nkeywords: [${"a,".repeat(count)}]\n---\nBody`
  expect(rule(list(RULE_LIMITS.items)).activation.kind).toBe("when")
  expect(rule(list(RULE_LIMITS.items + 1)).activation.kind).toBe("never")
})

test.each([
  "glob",
  "Globs",
  "keyword",
  "tool",
  "models",
  "branches",
  "mathc",
  "path",
  "applyto",
  "projects",
  "always_apply",
])("the misspelt key %s makes a rule inactive", (key) => {
  expect(rule(`---\n${key}: x\n---\nBody`).activation).toMatchObject({ kind: "never", warn: true })
})

test.each([
  "title",
  "description",
  "name",
  "author",
  "tags",
  "priority",
  "version",
  "type",
  "trigger",
  "notes",
])("the key %s is somebody else's and ignored", (key) => {
  expect(rule(`---\n${key}: x\n---\nBody`).activation).toEqual({ kind: "always" })
})

test("rules that cost too much to check are inactive and named, the others are still checked", () => {
  const costly = rule(`---\nglobs: ['${"*a".repeat(60)}*b*']\n---\nBody`)
  const plain = rule("---\nglobs: ['*.ts']\n---\nBody")
  const paths = [...Array.from({ length: 200 }, (_, at) => `${"a".repeat(280)}${at}`), "x.ts"]
  expect(evaluateRules([costly, plain], { paths })).toEqual({ active: [plain], tooCostly: [costly] })
})

test("a keyword begins a word, whatever the script and the letter case", () => {
  const holds = (keyword: string, prompt: string): boolean =>
    evaluateRules([rule(`---\nkeywords: ['${keyword}']\n---\nBody`)], { paths: [], prompt }).active.length ===
    1
  expect(holds("test", "run the TESTS")).toBe(true)
  expect(holds("test", "latest contest")).toBe(false)
  expect(holds("größe", "die GRÖßE zählt")).toBe(true)
  expect(holds("röße", "die größe")).toBe(false)
  expect(holds("@scope/", "use @scope/pkg")).toBe(true)
  expect(holds("c++", "write c++ now")).toBe(true)
  expect(holds("日本", "これは日本です")).toBe(false)
})
