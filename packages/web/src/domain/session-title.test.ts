import { expect, test } from "vitest"

import { matchesSearch, titleOf } from "./session-title.ts"

const USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }
const SESSION = {
  id: "ses_0123456789abcdef",
  location: { directory: "/home/ada/parser" },
  agent: "build",
  model: "house/big",
  seq: 1,
  status: "idle",
  usage: USAGE,
  cost: 0,
  time: { created: 0, updated: 0 },
} as const

test.each([
  [{ id: "ses_0123456789", title: "Fix the parser" }, "why?", "Fix the parser"],
  [{ id: "ses_0123456789", title: "  " }, "Why does\nit fail?", "Why does it fail?"],
  [{ id: "ses_0123456789" }, undefined, "Untitled …456789"],
])("%j, first asked %j, is called %s", (session, asked, title) => {
  expect(titleOf(session, asked)).toBe(title)
})

test.each([
  ["", true],
  ["parser", true],
  ["BIG ada", true],
  ["cdef", true],
  ["parser zebra", false],
])("a search for %j finds the session: %s", (search, isFound) => {
  expect(matchesSearch(SESSION, search)).toBe(isFound)
})
