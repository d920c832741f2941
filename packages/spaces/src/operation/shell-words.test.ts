import { expect, test } from "vitest"

import { shellLine } from "./shell-words.ts"

test("a shell splits the line into the same words", () => {
  expect(shellLine(["claude", "--model", "a/b-1.2", "two words", "it's", "", "$(x)"])).toBe(
    `claude --model a/b-1.2 'two words' 'it'\\''s' '' '$(x)'`,
  )
})
