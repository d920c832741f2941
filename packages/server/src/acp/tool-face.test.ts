import { expect, test } from "vitest"

import { patchDifferences } from "./patch-differences.ts"
import { resultContent, toolFace } from "./tool-face.ts"

const face = (tool: string, input: Parameters<typeof toolFace>[0]["input"] & object) =>
  toolFace({ tool, input }, "/project")

test("each tool has its kind, a title of one line and the places it touches", () => {
  expect(face("read", { path: "src/a.ts", offset: 40 })).toEqual({
    kind: "read",
    title: "read src/a.ts",
    locations: [{ path: "/project/src/a.ts", line: 40 }],
    content: [],
  })
  expect(face("bash", { command: "npm test &&\n  echo ok\u001b[31m", workdir: "x" })).toEqual({
    kind: "execute",
    title: "npm test && echo ok",
    locations: [],
    content: [],
  })
  expect(face("lab_echo", { text: "hi" })).toEqual({
    kind: "other",
    title: "lab_echo",
    locations: [],
    content: [],
  })
  expect(toolFace({ tool: "grep" }, "/project").title).toBe("grep")
})

test("an edit shows what it replaces, a write what will be there", () => {
  expect(face("edit", { path: "/else/where.ts", oldString: "a", newString: "b" })).toMatchObject({
    locations: [{ path: "/else/where.ts" }],
    content: [{ type: "diff", path: "/else/where.ts", oldText: "a", newText: "b" }],
  })
  expect(face("write", { path: "new.txt", content: "hello" }).content).toEqual([
    { type: "diff", path: "/project/new.txt", oldText: null, newText: "hello" },
  ])
})

const PATCH = `*** Begin Patch
*** Update File: a.ts
@@ function one
 same
-old
+new
@@
-gone
*** Add File: b.ts
+first
+second
*** Delete File: c.ts
*** Update File: d.ts
*** Move to: e.ts
-x
+y
*** Update File: f.ts
*** Move to: g.ts
*** End Patch`

test("a patch is shown piece by piece, each with the file it ends up in", () => {
  expect(patchDifferences(PATCH)).toEqual([
    { path: "a.ts", before: "same\nold\n", after: "same\nnew\n" },
    { path: "a.ts", before: "gone\n", after: "" },
    { path: "b.ts", after: "first\nsecond\n" },
    { path: "c.ts", before: "", after: "" },
    { path: "e.ts", from: "d.ts", before: "x\n", after: "y\n" },
    { path: "g.ts", from: "f.ts", before: "", after: "" },
  ])
  expect(patchDifferences("no patch at all")).toEqual([])
  expect(face("apply_patch", { patchText: PATCH }).locations.map(({ path }) => path)).toEqual([
    "/project/a.ts",
    "/project/b.ts",
    "/project/c.ts",
    "/project/e.ts",
    "/project/g.ts",
  ])
})

test("output of our tools stands in a fence that nothing inside can close; others speak for themselves", () => {
  const text = (tool: string, said: string) => {
    const [part] = resultContent(tool, [{ type: "text", text: said }])
    return part?.type === "content" && part.content.type === "text" ? part.content.text : ""
  }
  expect(text("bash", "a\n````\nb\n")).toBe("`````\na\n````\nb\n`````")
  expect(text("lab_echo", "**bold**")).toBe("**bold**")
  expect(text("bash", "x".repeat(1_000_100))).toMatch(/x\n\[100 characters more\]\n```$/)
  expect(resultContent("read", [{ type: "media", mediaType: "image/png", base64: "AAAA" }])).toEqual([
    { type: "content", content: { type: "image", mimeType: "image/png", data: "AAAA" } },
  ])
})
