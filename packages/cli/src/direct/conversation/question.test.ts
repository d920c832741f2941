import { expect, test } from "vitest"

import { wholeCall } from "./call-content.ts"
import { ANSWERS, answerOf, questionRows } from "./question.ts"
import { styleFor } from "./style.ts"

const style = styleFor({ NO_COLOR: "1", TERM: "xterm" })

test("a question names action and resource, and what it does not show it counts", () => {
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

test("what would be written is shown, and the answers fit at any width", () => {
  const question = {
    id: "per_1",
    action: "edit",
    title: "Edit a.txt",
    resources: ["a.txt"],
    always: ["a.txt"],
  }
  const input = { path: "a.txt", oldString: "one\n", newString: "two\nthree\n" }
  expect(
    questionRows({ ...question, input }, { size: { columns: 100, rows: 24 }, style, hint: ANSWERS }),
  ).toEqual([
    "Allow edit? Edit a.txt",
    "  a.txt",
    "    - one",
    "    + two",
    "    + three",
    "  always: exactly this, in this project",
    ANSWERS,
  ])
  const narrow = questionRows(
    { ...question, input },
    { size: { columns: 20, rows: 24 }, style, hint: ANSWERS },
  )
  expect(narrow.at(-1)).toBe("y/a/n/f, v views")
  expect(narrow.every((row) => row.length < 20)).toBe(true)
})

test("all of a call can be seen: a command, a text, a patch", () => {
  const command = "x\n".repeat(500)
  expect(wholeCall([command], { command })).toHaveLength(500)
  expect(wholeCall(["b"], { path: "b", content: "1\n\u001B[2J2" })).toEqual(["b", "+ 1", "+ 2"])
  expect(wholeCall(["b"], { patchText: "*** Begin\n+x\n" })).toEqual(["b", "*** Begin", "+x"])
  expect(wholeCall(["b"], { content: "x".repeat(200_001) }).at(-1)).toBe("… and 1 character more")
})

test("what always would allow is said where it is more than what is asked", () => {
  const question = { id: "per_1", action: "docs_search", title: "", resources: ["a*b"] }
  const shown = (always: readonly string[]) =>
    questionRows({ ...question, always }, { size: { columns: 60, rows: 12 }, style, hint: "" })
  expect(shown(["*"])).toContain("  always would allow in this project: *")
  expect(shown(["a\\*b"]).join("")).not.toContain("always would")
})

test("only these keys answer", () => {
  expect(["y", "A", "n", "f", "x", "", "yes", "\r"].map((key) => answerOf(key)?.tag)).toEqual([
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
