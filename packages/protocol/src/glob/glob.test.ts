import { expect, test } from "vitest"

import { expandBraces } from "./expand-braces.ts"
import { globSegment, matchesSegments } from "./match-path.ts"

const matches = (pattern: string, path: string, mayEndEmpty = false): boolean =>
  matchesSegments(pattern.split("/").map(globSegment), path.split("/"), { mayEndEmpty })

test.each([
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/b/a.ts", false],
  ["src/**/*.ts", "src/b/c/a.ts", true],
  ["src/**/*.ts", "src/a.ts", true],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["[a-c]x", "bx", true],
  ["[!a-c]x", "bx", false],
  ["[^a]x", "bx", true],
  ["[]a]x", "]x", true],
  ["[!]]x", "ax", true],
  ["[ab", "[ab", true],
  ["\\*x", "*x", true],
  ["\\*x", "ax", false],
  ["a*b*c", "aXbYc", true],
])("%s matches %s: %s", (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected)
})

test("a closing ** matches nothing at all only where the dialect says so", () => {
  expect([matches("src/**", "src"), matches("src/**", "src", true)]).toEqual([false, true])
})

test("a match without any effort left says no", () => {
  const effort = { left: 100 }
  const pattern = `${"*a".repeat(100)}b`
  expect(matchesSegments([globSegment(pattern)], ["a".repeat(10_000)], { mayEndEmpty: false, effort })).toBe(
    false,
  )
  expect(effort.left).toBeLessThanOrEqual(0)
})

test.each([
  ["{a,b}.ts", ["a.ts", "b.ts"]],
  ["{a,{b,c}}", ["a", "b", "c"]],
  ["{a\\},b}", ["a\\}", "b"]],
  ["{a,b", ["{a,b"]],
  ["{a}", ["{a}"]],
  ["{1..3}", ["1", "2", "3"]],
  ["@(a|b)?(c)", ["a", "ac", "b", "bc"]],
])("%s stands for %j", (pattern, expected) => {
  expect(expandBraces(pattern, { limit: 10, extended: true })?.toSorted()).toEqual(expected)
})

test("the plain dialect knows {a,b} only, and too many alternatives are none", () => {
  expect(expandBraces("{1..3}@(a|b)", { limit: 10, extended: false })).toEqual(["{1..3}@(a|b)"])
  expect(expandBraces("{a,b}".repeat(20), { limit: 64, extended: false })).toBeUndefined()
  expect(expandBraces("{1..9999}", { limit: 64, extended: true })).toBeUndefined()
})
