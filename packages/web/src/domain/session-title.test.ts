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
  [{ id: "ses_0123456789", title: "Fix the\nparser" }, "Fix the parser"],
  [{ id: "ses_0123456789", title: "  " }, "Untitled …456789"],
  [{ id: "ses_0123456789" }, "Untitled …456789"],
])("%j is called %s", (session, title) => {
  expect(titleOf(session)).toBe(title)
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
