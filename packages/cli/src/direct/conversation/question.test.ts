import { expect, test } from "vitest"

import { wholeCall } from "./call-content.ts"
import { answersTo, answerOf, questionRows } from "./question.ts"
import { styleFor } from "./style.ts"

const style = styleFor({ NO_COLOR: "1", TERM: "xterm" })

test("a question names action and resource, and counts the rows it does not show", () => {
  const question = { id: "per_1", action: "bash", title: "Cleans up" }
  const size = { columns: 60, rows: 12 }
  expect(
    questionRows(
      { ...question, resources: ["rm -r build"], always: ["rm -r build"] },
      { size, style, hint: "[y] once" },
    ),
  ).toEqual(["Allow bash? Cleans up", "  rm -r build", "  always: exactly this, in this project", "[y] once"])
  const long = Array.from({ length: 10 }, (_, index) => `echo ${index}`).join("\n")
  expect(
    questionRows({ ...question, resources: [long], always: [long] }, { size, style, hint: "[y] once" }),
  ).toEqual([
    "Allow bash? Cleans up",
    "  echo 0",
    "  echo 1",
    "  echo 2",
    "  always: exactly this, in this project",
    "  … and 7 rows more that do not fit here",
    "[y] once",
  ])
})

test("the text to be written is shown, and the answers fit at any width", () => {
  const question = {
    id: "per_1",
    action: "edit",
    title: "Edit a.txt",
    resources: ["a.txt"],
    always: ["a.txt"],
  }
  const input = { path: "a.txt", oldString: "one\n", newString: "two\nthree\n" }
  expect(
    questionRows(
      { ...question, input },
      { size: { columns: 100, rows: 24 }, style, hint: answersTo("edit") },
    ),
  ).toEqual([
    "Allow edit? Edit a.txt",
    "  a.txt",
    "    - one",
    "    + two",
    "    + three",
    "  this file: whatever is written to it, in this project",
    answersTo("edit"),
  ])
  const narrow = questionRows(
    { ...question, input },
    { size: { columns: 24, rows: 24 }, style, hint: answersTo("edit") },
  )
  expect(narrow.at(-1)).toBe("y/a/s/n/f, v views")
  expect(narrow.every((row) => row.length < 24)).toBe(true)
})

test("a whole call can be shown: a command, a text, a patch", () => {
  const command = "x\n".repeat(500)
  expect(wholeCall([command], { command })).toHaveLength(500)
  expect(wholeCall(["b"], { path: "b", content: "1\n\u001B[2J2" })).toEqual(["b", "+ 1", "+ 2"])
  expect(wholeCall(["b"], { patchText: "*** Begin\n+x\n" })).toEqual(["b", "*** Begin", "+x"])
  expect(wholeCall(["b"], { content: "x".repeat(200_001) }).at(-1)).toBe("… and 1 character more")
})

test("the scope of 'always' is shown if it exceeds the request", () => {
  const question = { id: "per_1", action: "docs_search", title: "", resources: ["a*b"] }
  const shown = (always: readonly string[]) =>
    questionRows({ ...question, always }, { size: { columns: 60, rows: 12 }, style, hint: "" })
  expect(shown(["*"])).toContain("  always would allow in this project: *")
  expect(shown(["a\\*b"]).join("")).not.toContain("always would")
})

test("a call of a foreign tool shows its whole input, each field by its name, as far as the screen allows", () => {
  const question = {
    id: "per_1",
    action: "docs_publish",
    title: "docs: publish",
    resources: ["*"],
    always: ["\\*"],
    input: {
      content: "first\nsecond",
      to: "everybody\u001B[2J",
      draft: false,
      tags: ["a", { deep: "b\nc" }],
      empty: "",
    },
  }
  const rows = (size: { columns: number; rows: number }) =>
    questionRows(question, { size, style, hint: "[y] once" })
  expect(rows({ columns: 100, rows: 40 })).toEqual([
    "Allow docs_publish? docs: publish",
    "    content:",
    "      first",
    "      second",
    "    to: everybody",
    "    draft: false",
    String.raw`    tags: ["a",{"deep":"b\nc"}]`,
    "    empty: ",
    "  always would allow in this project: every call of docs_publish",
    "[y] once",
  ])
  expect(rows({ columns: 100, rows: 12 }).slice(1)).toEqual([
    "    content:",
    "      first",
    "      second",
    "  always would allow in this project: every call of docs_publish",
    "  … and 4 rows more that do not fit here",
    "[y] once",
  ])
  expect(wholeCall(["*"], question.input)).toHaveLength(7)
})

test("the input of a foreign tool is bounded, and an empty input is shown as such", () => {
  expect(wholeCall(["*"], {})).toEqual(["(no input)"])
  expect(wholeCall(["*"], undefined)).toEqual(["*"])
  expect(wholeCall(["*"], "raw")).toEqual(["raw"])
  expect(wholeCall(["*"], { a: "1\rb: 2", "c\nd": 3 })).toEqual(["a:", "  1", "  b: 2", "c d: 3"])
  expect(wholeCall(["*"], [1, 2])).toEqual(["[1,2]"])
  expect(wholeCall(["*"], { a: "x".repeat(199_998) }).at(-1)).toBe("… and 1 character more")
  const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`field${index}`, index]))
  expect(wholeCall(["*"], many).join("\n").length).toBeLessThan(201_000)
})

test("only these keys answer", () => {
  expect(["y", "A", "n", "f", "x", "", "yes", "\r"].map((key) => answerOf(key, "bash")?.tag)).toEqual([
    "reply",
    "reply",
    "reply",
    "explain",
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test("an edit has three answers that allow: this one, this file, all of the session", () => {
  expect(["y", "a", "s"].map((key) => answerOf(key, "edit"))).toEqual([
    { tag: "reply", reply: "once" },
    { tag: "reply", reply: "always" },
    { tag: "reply", reply: "session" },
  ])
  expect(answerOf("s", "bash")).toBeUndefined()
  expect(answersTo("edit")).toContain("[y] once  [a] this file  [s] all edits of this session")
})
