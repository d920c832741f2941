import { expect, test } from "vitest"

import { patchDifferences } from "./patch-differences.ts"
import { resultContent, toolFace, type ShownCall } from "./tool-face.ts"

const face = (call: ShownCall) => toolFace(call, "/project")

test("each call has the kind its tool says, a title of one line and the places it touches", () => {
  expect(face({ tool: "read", kind: "read", input: { path: "src/a.ts", offset: 40 } })).toEqual({
    kind: "read",
    title: "read src/a.ts",
    locations: [{ path: "/project/src/a.ts", line: 40 }],
    content: [],
  })
  expect(
    face({
      tool: "bash",
      kind: "execute",
      input: { command: "npm test &&\n  echo ok\u001b[31m", workdir: "x" },
    }),
  ).toEqual({
    kind: "execute",
    title: "npm test && echo ok",
    locations: [],
    content: [],
  })
  expect(face({ tool: "lab_echo", input: { text: "hi" } })).toEqual({
    kind: "other",
    title: "lab_echo",
    locations: [],
    content: [],
  })
  expect(face({ tool: "grep", kind: "search" }).title).toBe("grep")
})

test("an edit shows what it replaces, a write what will be there", () => {
  expect(
    face({ tool: "edit", kind: "edit", input: { path: "/else/where.ts", oldString: "a", newString: "b" } }),
  ).toMatchObject({
    locations: [{ path: "/else/where.ts" }],
    content: [{ type: "diff", path: "/else/where.ts", oldText: "a", newText: "b" }],
  })
  expect(
    face({ tool: "create", kind: "edit", input: { path: "new.txt", content: "hello" } }).content,
  ).toEqual([{ type: "diff", path: "/project/new.txt", oldText: null, newText: "hello" }])
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
  expect(
    face({ tool: "apply_patch", kind: "edit", input: { patchText: PATCH } }).locations.map(
      ({ path }) => path,
    ),
  ).toEqual(["/project/a.ts", "/project/b.ts", "/project/c.ts", "/project/e.ts", "/project/g.ts"])
})

test("output of our tools is in a fence that nothing inside can close; other output is shown as it is", () => {
  const text = (kind: ShownCall["kind"], said: string) => {
    const [part] = resultContent(kind, [{ type: "text", text: said }])
    return part?.type === "content" && part.content.type === "text" ? part.content.text : ""
  }
  expect(text("execute", "a\n````\nb\n")).toBe("`````\na\n````\nb\n`````")
  expect(text(undefined, "**bold**")).toBe("**bold**")
  expect(text("execute", "x".repeat(1_000_100))).toMatch(/x\n\[100 characters more\]\n```$/)
  expect(resultContent("read", [{ type: "media", mediaType: "image/png", base64: "AAAA" }])).toEqual([
    { type: "content", content: { type: "image", mimeType: "image/png", data: "AAAA" } },
  ])
})
