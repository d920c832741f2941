import type { DiffHunk } from "@meridian/server/client"
import { expect, test } from "vitest"

import { changeText, numberedLines, placeOf, totalsText } from "./run-diff.ts"

const hunk = (lines: readonly string[], oldStart = 10, newStart = 20): DiffHunk => ({
  oldStart,
  oldLines: 3,
  newStart,
  newLines: 3,
  heading: "",
  lines: [...lines],
})

test("lines carry their numbers on both sides, and git's notes carry none", () => {
  expect(numberedLines(hunk([" a", "-b", "+c", "+", "\\ No newline at end of file"]))).toEqual([
    { kind: "same", text: "a", before: 10, after: 20 },
    { kind: "removed", text: "b", before: 11 },
    { kind: "added", text: "c", after: 21 },
    { kind: "added", text: "", after: 22 },
    { kind: "note", text: " No newline at end of file" },
  ])
})

test("a comment is about a line that the run left, or one that it removed", () => {
  const [same, removed, added, note] = numberedLines(hunk([" a", "-b", "+c", "\\ x"]))
  const places = [same, removed, added, note].map((line) => line && placeOf("src/a.ts", line))
  expect(places).toEqual([
    { path: "src/a.ts", line: 20, code: "a" },
    { path: "src/a.ts", line: 11, code: "b", removed: true },
    { path: "src/a.ts", line: 21, code: "c" },
    undefined,
  ])
})

test("the content of a line is text, and an endless line is cut", () => {
  const [line] = numberedLines(hunk([`+\u001b[31m\u202e${"x".repeat(5_000)}`]))
  expect(line?.text).not.toContain("\u001b")
  expect(line?.text).not.toContain("\u202e")
  expect(line?.text.length).toBeLessThan(1_100)
})

test("each file says what became of it, and together they say how much", () => {
  const file = { path: "b", change: "modified", additions: 1_200, deletions: 3, hunks: [] } as const
  expect(changeText({ ...file, change: "renamed", oldPath: "a" })).toBe("renamed from a")
  expect(changeText({ ...file, binary: true })).toBe("binary")
  expect(changeText({ ...file, change: "type-changed" })).toBe("type changed")
  expect(changeText(file)).toBe("")
  expect(totalsText([file, file])).toBe("2 files, +2,400 −6")
  expect(totalsText([])).toBe("0 files, +0 −0")
})
