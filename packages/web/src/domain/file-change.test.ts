import * as fc from "fast-check"
import { expect, test } from "vitest"

import { diffLines, fileChangeOf, type DiffLine } from "./file-change.ts"

const shown = (lines: readonly DiffLine[] | undefined): readonly string[] =>
  (lines ?? []).map(
    ({ kind, text }) => `${{ same: " ", added: "+", removed: "-", gap: "@", file: "*" }[kind]}${text}`,
  )

test("an edit shows what is removed and added, with the lines around it", () => {
  const change = fileChangeOf(
    { tool: "edit" },
    {
      path: "a.ts",
      oldString: "one\ntwo\nthree",
      newString: "one\n2\nthree",
    },
  )
  expect(shown(change?.lines)).toEqual(["*a.ts", " one", "-two", "+2", " three"])
  expect(change).toMatchObject({ added: 1, removed: 1, hidden: 0 })
})

test("long stretches without a change are folded", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
  const change = fileChangeOf(
    { tool: "edit" },
    {
      path: "a.ts",
      oldString: lines.join("\n"),
      newString: [...lines.slice(0, 10), "new", ...lines.slice(10)].join("\n"),
    },
  )
  expect(shown(change?.lines)).toEqual([
    "*a.ts",
    "@7 unchanged lines",
    " line 7",
    " line 8",
    " line 9",
    "+new",
    " line 10",
    " line 11",
    " line 12",
    "@7 unchanged lines",
  ])
})

test("a written file is all new, bounded", () => {
  const change = fileChangeOf({ tool: "write" }, { path: "b.ts", content: "x\n".repeat(1_000) })
  expect(change).toMatchObject({ added: 1_000, removed: 0, hidden: 601 })
  expect(change?.lines).toHaveLength(400)
})

test("a patch is shown file by file", () => {
  const patchText = [
    "*** Begin Patch",
    "*** Update File: a.ts",
    "@@ class A",
    " keep",
    "-old",
    "+new",
    "*** Add File: b.ts",
    "+hello",
    "*** Delete File: c.ts",
    "*** End Patch",
  ].join("\n")
  expect(shown(fileChangeOf({ tool: "apply_patch" }, { patchText })?.lines)).toEqual([
    "*a.ts",
    "@class A",
    " keep",
    "-old",
    "+new",
    "*b.ts (add)",
    "+hello",
    "*c.ts (delete)",
  ])
})

test.each([
  ["read", { path: "a.ts" }],
  ["bash", { command: "ls" }],
  ["send", { path: "a.ts", content: "x" }],
  ["edit", undefined],
  ["edit", "text"],
])("%s with %j changes no file", (tool, input) => {
  expect(fileChangeOf({ tool }, input)).toBeUndefined()
})

test("the names other harnesses use are understood", () => {
  const change = fileChangeOf({ tool: "Edit" }, { file_path: "a", old_string: "x", new_string: "y" })
  expect(shown(change?.lines)).toEqual(["*a", "-x", "+y"])
})

test("of any two texts, the lines that stay and go are the old text, those that stay and come the new one", () => {
  const some = fc.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(some, some, (old, now) => {
      const lines = diffLines(`${old.join("\n")}\n`, `${now.join("\n")}\n`)
      expect(lines.filter(({ kind }) => kind !== "added").map(({ text }) => text)).toEqual(old)
      expect(lines.filter(({ kind }) => kind !== "removed").map(({ text }) => text)).toEqual(now)
    }),
  )
})
