import { expect, test } from "vitest"

import { completeLine, type Choices } from "./complete.ts"
import { EMPTY_EDITOR } from "./editor.ts"

const CHOICES: Choices = {
  commands: ["/model", "/agent", "/compact"],
  models: ["anthropic/opus", "anthropic/sonnet"],
  agents: ["build", "plan"],
  files: (begun) => ["src/", "src.md"].filter((path) => path.startsWith(begun)),
}

const tab = (text: string, cursor = text.length) => {
  const completion = completeLine({ ...EMPTY_EDITOR, text, cursor }, CHOICES)
  return completion === undefined
    ? undefined
    : [completion.editor.text, completion.editor.cursor, completion.shown]
}

test.each([
  ["/co", ["/compact ", 9, []]],
  ["/", ["/", 1, ["/model", "/agent", "/compact"]]],
  ["/model anthropic/o", ["/model anthropic/opus ", 22, []]],
  ["/model a", ["/model anthropic/", 17, ["anthropic/opus", "anthropic/sonnet"]]],
  ["/agent pl", ["/agent plan ", 12, []]],
  ["look at @s", ["look at @src", 12, ["src/", "src.md"]]],
  ["@src/", ["@src/", 5, []]],
  ["/nothing", undefined],
  ["mail me@s", undefined],
  ["plain words", undefined],
  ["", undefined],
])("Tab behind %j", (text, expected) => {
  expect(tab(text)).toEqual(expected)
})

test("text after the cursor stays", () => {
  expect(tab("/ag build", 3)).toEqual(["/agent  build", 7, []])
})
