import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openScene, openWorkspace, textOf, type Workspace } from "../../../../test/tool-scene.ts"
import { verifies } from "../../../../test/verifies.ts"
import { applyPatchTool } from "./apply-patch.ts"
import { openFileLocks } from "./file-locks.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { applyChunks } from "./patch-match.ts"
import { parsePatch } from "./patch-text.ts"

const patch = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")
const apply = (space: Workspace, patchText: string, scene = openScene()) =>
  applyPatchTool({ ...space, locks: openFileLocks() }).execute({ patchText }, scene)
const put = (space: Workspace, name: string, text: string) => writeFile(join(space.root, name), text)
const get = (space: Workspace, name: string) => readFile(join(space.root, name), "utf8")

test("adds, updates and deletes with one question for all files", async () => {
  await using space = await openWorkspace()
  await put(space, "old.txt", "one\ntwo\nthree\n")
  await put(space, "gone.txt", "x")
  const scene = openScene()
  const output = await apply(
    space,
    patch(
      "*** Add File: dir/new.txt",
      "+first",
      "+",
      "*** Update File: old.txt",
      "@@",
      " one",
      "-two",
      "+2",
      "+2.5",
      " three",
      "*** Delete File: gone.txt",
    ),
    scene,
  )
  expect(textOf(output)).toBe("Applied the patch:\nA dir/new.txt\nM old.txt\nD gone.txt")
  expect(await get(space, "dir/new.txt")).toBe("first\n\n")
  expect(await get(space, "old.txt")).toBe("one\n2\n2.5\nthree\n")
  expect((await readdir(space.root)).sort()).toEqual(["dir", "old.txt"])
  expect(scene.questions.map(({ action, resources }) => [action, resources])).toEqual([
    ["edit", ["dir/new.txt", "old.txt", "gone.txt"]],
  ])
})

verifies(
  "tools.patch.one-question",
  async () => {
    await using space = await openWorkspace()
    await mkdir(join(space.base, "other"))
    const scene = openScene()
    await apply(space, patch("*** Add File: ../other/a", "+a", "*** Add File: ../b", "+b"), scene)
    expect(scene.questions.map(({ action, resources }) => [action, resources])).toEqual([
      ["external_directory", [space.base, join(space.base, "other")]],
      ["edit", [join(space.base, "other/a"), join(space.base, "b")]],
    ])
  },
  "external directories are asked for before the edit, in one question",
)

test.each([
  [
    "an update that does not fit",
    ["*** Update File: a", "@@", "-nothing like it", "+x"],
    /these lines were not found/,
  ],
  ["a missing file", ["*** Delete File: missing"], /does not exist/],
  ["an add over a file", ["*** Add File: a", "+x"], /exists already/],
  ["a move", ["*** Update File: a", "*** Move to: b", "@@", "-one", "+1"], /moving files is not supported/],
  ["a file twice", ["*** Update File: a", "-one", "+1", "*** Delete File: ./a"], /appears twice/],
  ["an unknown line", ["*** Rename File: a"], /must start with/],
  ["an add without plus", ["*** Add File: n", "text"], /must start with \+/],
  ["no change", ["*** Update File: a", " one"], /changes nothing/],
  ["an empty patch", [], /changes no file/],
])("%s refuses the whole patch and nothing is written", async (_, lines, message) => {
  await using space = await openWorkspace()
  await put(space, "a", "one\n")
  const before = ["*** Add File: first", "+x"]
  const whole = lines.length === 0 ? patch() : patch(...before, ...lines)
  await expect(apply(space, whole)).rejects.toThrow(message)
  expect(await readdir(space.root)).toEqual(["a"])
  expect(await get(space, "a")).toBe("one\n")
})

verifies(
  "tools.patch.partial",
  async () => {
    await using space = await openWorkspace()
    await put(space, "last", "x\n")
    const text = patch("*** Add File: a", "+file", "*** Add File: a/b", "+below", "*** Delete File: last")
    await expect(apply(space, text)).rejects.toMatchObject({
      code: "failed",
      message: [
        "The patch was applied only in part.",
        "Applied:",
        "A a",
        "Failed:",
        'A a/b: "a/b" cannot exist: a part of its path is a file, not a directory.',
        "Not attempted:",
        "D last",
        "Do not send the applied parts again.",
      ].join("\n"),
    })
    expect((await readdir(space.root)).sort()).toEqual(["a", "last"])
  },
  "a failure on disk leaves the earlier changes and says exactly what happened",
)

verifies(
  "tools.patch.preflight",
  async () => {
    await using space = await openWorkspace()
    await put(space, "a", "one\n")
    const scene = openScene({ ask: () => put(space, "a", "other\n") })
    await expect(apply(space, patch("*** Update File: a", "-one", "+1"), scene)).rejects.toThrow(/not found/)
    expect(await get(space, "a")).toBe("other\n")
  },
  "a file that changes while permission is asked is patched as it is then",
)

test.each([
  ["exact", "  a = 1", "  a = 1"],
  ["trailing whitespace", "  a = 1   ", "  a = 1"],
  ["surrounding whitespace", "\ta = 1", "  a = 1"],
  ["typographic characters", "say “hi” — now", 'say "hi" - now'],
])("context is found by %s", (_, inFile, inPatch) => {
  const chunk = { headers: [], before: [inPatch, "old"], after: [inPatch, "new"], atEnd: false }
  expect(applyChunks(`${inFile}\nold\n`, [chunk])).toEqual({ type: "patched", text: `${inFile}\nnew\n` })
})

test("an exact place wins over an earlier loose one", () => {
  const chunk = { headers: [], before: ["x"], after: ["y"], atEnd: false }
  expect(applyChunks(" x\nx\n", [chunk])).toEqual({ type: "patched", text: " x\ny\n" })
})

test("deleting a link is refused, because it would delete what the link leads to", async () => {
  await using space = await openWorkspace()
  await put(space, "real", "x\n")
  await symlink("real", join(space.root, "link"))
  await expect(apply(space, patch("*** Delete File: link"))).rejects.toThrow(/is a link/)
  expect((await readdir(space.root)).sort()).toEqual(["link", "real"])
})

test("a header leads to the right one of two equal places, and chunks follow each other", () => {
  const parsed = parsePatch(
    patch(
      "*** Update File: f",
      "@@ second:",
      "-  value",
      "+  changed",
      "@@",
      "-end",
      "+END",
      "*** End of File",
    ),
  )
  const section = parsed.type === "patch" ? parsed.sections[0] : undefined
  const text = "first:\n  value\nsecond:\n  value\nend\n"
  expect(section?.type === "update" ? applyChunks(text, section.chunks) : parsed).toEqual({
    type: "patched",
    text: "first:\n  value\nsecond:\n  changed\nEND\n",
  })
})

test("line endings, byte order mark and a missing last line break stay the file's own", async () => {
  await using space = await openWorkspace()
  await put(space, "crlf", "\uFEFFone\r\ntwo\r\nthree")
  await apply(space, patch("*** Update File: crlf", " one", "-two", "+2", " three"))
  expect(await get(space, "crlf")).toBe("\uFEFFone\r\n2\r\nthree")
})

test.each([
  `apply_patch <<'EOF'\n${patch("*** Add File: a", "+x")}\nEOF`,
  `<<EOF\n${patch("*** Add File: a", "+x")}\nEOF\n`,
  `\r\n${patch("*** Add File: a", "+x").replaceAll("\n", "\r\n")}\r\n`,
])("the wrapping of a patch is taken off (%#)", (wrapped) => {
  expect(parsePatch(wrapped)).toEqual({ type: "patch", sections: [{ type: "add", path: "a", text: "x\n" }] })
})

test("as many files as the bound are accepted, one more is not", () => {
  const sections = (count: number) => Array.from({ length: count }, (_, at) => `*** Delete File: f${at}`)
  expect(parsePatch(patch(...sections(TOOL_LIMITS.patchFiles))).type).toBe("patch")
  expect(parsePatch(patch(...sections(TOOL_LIMITS.patchFiles + 1))).type).toBe("refused")
})

test("a file of a million lines is patched", () => {
  const text = Array.from({ length: 1_000_000 }, (_, at) => `${at}\n`).join("")
  const chunk = { headers: [], before: ["999998"], after: ["changed"], atEnd: false }
  expect(applyChunks(text, [chunk])).toEqual({ type: "patched", text: text.replace("999998\n", "changed\n") })
})
