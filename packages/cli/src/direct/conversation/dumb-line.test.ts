import { expect, test } from "vitest"

import { advance } from "./dumb-line.ts"

test.each([
  ["a letter more", "> ab", { rows: [], line: "> abc" }, "c"],
  ["a letter less", "> abc", { rows: [], line: "> ab" }, "\b \b"],
  ["a wide letter less", "> 家", { rows: [], line: "> " }, "\b \b\b \b"],
  ["another line", "> ab", { rows: [], line: "> xy" }, "\r\n> xy"],
  ["nothing new", "> ab", { rows: [], line: "> ab" }, ""],
  ["the line goes", "> ab", { rows: [], line: "" }, "\r\n"],
  ["rows, then the line", "", { rows: ["one", "two"], line: "> " }, "one\r\ntwo\r\n> "],
  ["rows into a line", "> draft", { rows: ["one"], line: "> draft" }, "\r\none\r\n> draft"],
  ["rows where nothing was typed", "> ", { rows: ["one"], line: "> " }, "\b \b\b \bone\r\n> "],
  ["the mark goes", "> ", { rows: [], line: "" }, "\b \b\b \b"],
  ["what was typed is sent", "> hello", { rows: ["> hello", "(joins)"], line: "" }, "\r\n(joins)\r\n"],
] as const)("%s", (_name, shown, next, output) => {
  expect(advance(shown, next)).toEqual({ output, line: next.line })
})
