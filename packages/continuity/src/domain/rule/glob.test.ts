import * as fc from "fast-check"
import { expect, test } from "vitest"

import { compileGlob, GLOB_LIMITS, matchesGlob, matchesGlobs, splitPath, type Glob } from "./glob.ts"

const glob = (pattern: string): Glob => {
  const compiled = compileGlob(pattern)
  if (compiled.kind === "rejected") throw new Error(`${pattern} ${compiled.reason}`)
  return compiled.glob
}
const matches = (pattern: string, path: string): boolean =>
  matchesGlob(glob(pattern), splitPath(path), { left: 1_000_000 })

test.each([
  ["*.ts", "a.ts"],
  ["*.ts", "src/deep/a.ts"],
  ["src/*.ts", "src/a.ts"],
  ["./src/*.ts", "src/a.ts"],
  ["src/**", "src/a/b.ts"],
  ["src/", "src/a/b.ts"],
  ["src/**/*.ts", "src/a.ts"],
  ["**/a.ts", "a.ts"],
  ["**", "any/thing"],
  ["/a.ts", "a.ts"],
  ["a?c", "abc"],
  ["[a-c]x", "bx"],
  ["[!a-c]x", "dx"],
  ["{a,b}/{c,d}.ts", "b/c.ts"],
  ["v{1..3}.md", "v2.md"],
  ["*.{ts,{js,mjs}}", "x.mjs"],
  ["@(a|b).ts", "b.ts"],
  ["a?(b).ts", "a.ts"],
  ["app/(auth)/[slug]/page.tsx", "app/(auth)/s/page.tsx"],
  [String.raw`\*.ts`, "*.ts"],
  ["**/.github/**", ".github/workflows/ci.yml"],
  ["größe/*", "größe/a"],
  ["a**b", "aXb"],
])("%s matches %s", (pattern, path) => {
  expect(matches(pattern, path)).toBe(true)
})

test.each([
  ["*.ts", "a.tsx"],
  ["src/*.ts", "src/a/b.ts"],
  ["src/**", "src"],
  ["src/**", "source/a"],
  ["/a.ts", "x/a.ts"],
  ["a?c", "ac"],
  ["[a-c]x", "dx"],
  ["{a,b}", "c"],
  ["A.ts", "a.ts"],
  ["**/b/**/d", "a/b/c"],
])("%s does not match %s", (pattern, path) => {
  expect(matches(pattern, path)).toBe(false)
})

test.each([
  ["x".repeat(GLOB_LIMITS.length + 1), "is longer than 512 characters"],
  ["{a,b}".repeat(7), "has more than 64 alternatives"],
  ["{1..65}", "has more than 64 alternatives"],
  ["a/".repeat(GLOB_LIMITS.segments + 1), "has more than 64 segments"],
  ["+(a|b)", "uses +(), *() or !(), which are not supported"],
  ["", "is empty"],
  ["!", "is empty"],
])("%s is rejected", (pattern, reason) => {
  expect(compileGlob(pattern)).toEqual({ kind: "rejected", reason })
})

test("what is just within the bounds compiles", () => {
  expect(compileGlob("{a,b}".repeat(6)).kind).toBe("glob")
  expect(compileGlob("{1..64}").kind).toBe("glob")
  expect(compileGlob("x".repeat(GLOB_LIMITS.length)).kind).toBe("glob")
})

test("an excluding glob takes away, and alone it includes the rest", () => {
  const paths = [splitPath("a.ts"), splitPath("a.test.ts")]
  const effort = { left: 1000 }
  expect(matchesGlobs([glob("*.ts"), glob("!*.test.ts")], paths, effort)).toBe(true)
  expect(matchesGlobs([glob("*.ts"), glob("!*.ts")], paths, effort)).toBe(false)
  expect(matchesGlobs([glob("!*.md")], paths, effort)).toBe(true)
})

/** The definition, slow and plain: it tries every way to place the wildcards. */
const reference = (pattern: readonly string[], path: readonly string[]): boolean => {
  const [head, ...rest] = pattern
  if (head === undefined) return path.length === 0
  if (head !== "**") return path.length > 0 && name(head, path[0] ?? "") && reference(rest, path.slice(1))
  const least = rest.length === 0 ? 1 : 0
  return (
    path.some((_, at) => at >= least && reference(rest, path.slice(at))) ||
    (path.length >= least && reference(rest, []))
  )
}
const name = (pattern: string, text: string): boolean => {
  if (pattern === "") return text === ""
  if (pattern.startsWith("*"))
    return [...Array(text.length + 1).keys()].some((at) => name(pattern.slice(1), text.slice(at)))
  return (
    text !== "" &&
    (pattern.startsWith("?") || pattern[0] === text[0]) &&
    name(pattern.slice(1), text.slice(1))
  )
}

test("matches exactly what the definition matches", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), minLength: 1, maxLength: 4 })
  const segment = fc.oneof(
    fc.constant("**"),
    part.filter((text) => text !== "**"),
  )
  const pattern = fc
    .array(segment, { minLength: 2, maxLength: 5 })
    .filter((all) => all.every((text, at) => text !== "**" || all[at + 1] !== "**"))
  const path = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(pattern, path, (segments, names) => {
      const collapsed = segments.map((text) => (text === "**" ? text : text.replaceAll(/\*+/g, "*")))
      expect(matches(collapsed.join("/"), names.join("/"))).toBe(reference(collapsed, names))
    }),
    { numRuns: 2000 },
  )
})

test("no pattern spends more than it is given", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "*", "/", "{", "}", ",", "[", "?", "!"), maxLength: 200 }),
      (pattern) => {
        const compiled = compileGlob(pattern)
        const effort = { left: 5000 }
        if (compiled.kind === "glob") matchesGlob(compiled.glob, splitPath("a/".repeat(400)), effort)
        expect(effort.left).toBeGreaterThanOrEqual(-1)
      },
    ),
    { numRuns: 500 },
  )
})
