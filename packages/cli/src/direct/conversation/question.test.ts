import { expect, test } from "vitest"

import { answerOf, questionRows } from "./question.ts"
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
  ).toEqual(["Allow bash? Cleans up", "  rm -r build", "[y] once"])
  const long = Array.from({ length: 10 }, (_, index) => `echo ${index}`).join("\n")
  expect(
    questionRows({ ...question, resources: [long], always: [long] }, { size, style, hint: "[y] once" }),
  ).toEqual([
    "Allow bash? Cleans up",
    "  echo 0",
    "  echo 1",
    "  echo 2",
    "  … and 7 rows more that do not fit here",
    "[y] once",
  ])
})

test("what always would allow is said where it is more than what is asked", () => {
  const question = { id: "per_1", action: "docs_search", title: "", resources: ["a*b"] }
  const shown = (always: readonly string[]) =>
    questionRows({ ...question, always }, { size: { columns: 60, rows: 12 }, style, hint: "" })
  expect(shown(["*"])).toContain("  always would allow: *")
  expect(shown(["a\\*b"]).join("")).not.toContain("always would")
})

test("only four keys answer", () => {
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
