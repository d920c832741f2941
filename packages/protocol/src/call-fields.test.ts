import { expect, test } from "vitest"

import { aboutCall, changeInCall } from "./call-fields.ts"

test.each([
  [{ command: "ls", path: "a" }, "ls"],
  [{ pattern: "x", path: "a" }, "a"],
  [{ path: "", file_path: "b" }, "b"],
  [{ n: 1 }, undefined],
  ["ls", "ls"],
  ["", undefined],
  [null, undefined],
  [[1], undefined],
])("of %j it says %j", (input, about) => {
  expect(aboutCall(input)).toBe(about)
})

test("a change is found by the names that tools give it, and text may be replaced by nothing", () => {
  const none = { path: undefined, before: undefined, after: undefined, content: undefined, patch: undefined }
  expect([
    changeInCall({ filePath: "a", old_string: "x", newText: "" }),
    changeInCall({ path: "a", contents: "y" }),
    changeInCall({ patch_text: "p" }),
    changeInCall({ input: "*** Begin Patch" }),
    changeInCall({ input: "other", content: 1 }),
  ]).toEqual([
    { ...none, path: "a", before: "x", after: "" },
    { ...none, path: "a", content: "y" },
    { ...none, patch: "p" },
    { ...none, patch: "*** Begin Patch" },
    none,
  ])
})
