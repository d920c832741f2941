import { expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { pinnedTask, taskLine } from "./task.ts"

const FILE = "/p/.meridian/.spaces/s1/runs/r1/task.md"

verifies(
  "task.pinned",
  () => {
    const task = "x".repeat(2_000)
    expect(pinnedTask({ task, file: FILE })).toBe(task)
  },
  "whole",
)

test("a longer task is cut to 2,000 characters and points to its file", () => {
  const pinned = pinnedTask({ task: `begin ${"x".repeat(2_000)} end`, file: FILE })
  expect([
    pinned.length,
    pinned.startsWith("begin "),
    pinned.endsWith(`…\n[the rest is in ${FILE}]`),
  ]).toEqual([2_000, true, true])
})

verifies(
  "task.pinned",
  () => {
    expect(pinnedTask({ task: "now the tests", first: "build the parser", file: FILE })).toBe(
      "build the parser\n\nnow the tests",
    )
  },
  "after a continuation",
)

test("a first task and newest words that are both long share the bound", () => {
  const pinned = pinnedTask({
    task: `new ${"n".repeat(5_000)}`,
    first: `old ${"o".repeat(5_000)}`,
    file: FILE,
  })
  const [first = "", newest = ""] = pinned.split("\n\n")
  expect([pinned.length, first.length, newest.length]).toEqual([2_000, 998, 1_000])
})

test("a cut never leaves half of a character", () => {
  expect(pinnedTask({ task: "😀".repeat(2_000), file: FILE }).isWellFormed()).toBe(true)
})

test("a list shows the first line that is not blank", () => {
  expect(taskLine("\n\n  fix\tthe parser \u001b[31m\nand more")).toBe("fix the parser")
})
