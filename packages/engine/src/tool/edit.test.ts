import { chmod, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openScene, openWorkspace, textOf, type Workspace } from "../../../../test/tool-scene.ts"
import { decideEdit, editTool } from "./edit.ts"
import { openFileLocks } from "./file-locks.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { writeTool } from "./write.ts"

const tools = (space: Workspace) => {
  const locks = openFileLocks()
  return { edit: editTool({ ...space, locks }), write: writeTool({ ...space, locks }) }
}

test("an exact text is replaced, the mode kept, and nothing else left in the directory", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "run.sh"), "echo one\necho two\n")
  await chmod(join(space.root, "run.sh"), 0o751)
  const scene = openScene()
  const output = await tools(space).edit.execute({ path: "run.sh", oldString: "one", newString: "1" }, scene)
  expect(textOf(output)).toBe("Replaced 1 occurrence in run.sh.")
  expect(await readFile(join(space.root, "run.sh"), "utf8")).toBe("echo 1\necho two\n")
  expect((await stat(join(space.root, "run.sh"))).mode & 0o7777).toBe(0o751)
  expect(await readdir(space.root)).toEqual(["run.sh"])
  expect(scene.questions).toEqual([
    {
      action: "edit",
      resources: ["run.sh"],
      title: "Edit run.sh",
      detail: { path: "run.sh", before: "one", after: "1" },
    },
  ])
})

test.each([
  ["none", "a b", "c", /does not occur/],
  ["several", "a b a", "a", /occurs 2 times/],
])("%s: refused and left alone", async (_, content, oldString, message) => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "f"), content)
  await expect(
    tools(space).edit.execute({ path: "f", oldString, newString: "x" }, openScene()),
  ).rejects.toThrow(message)
  expect(await readFile(join(space.root, "f"), "utf8")).toBe(content)
})

test("replaceAll replaces all, and overlapping occurrences are counted as they are replaced", () => {
  expect(decideEdit("a a a", "a", "b", true)).toEqual({ type: "changed", text: "b b b", replacements: 3 })
  expect(decideEdit("aaa", "aa", "b", false)).toEqual({ type: "changed", text: "ba", replacements: 1 })
})

test("a replacement is text, not a pattern", () => {
  expect(decideEdit("cost", "cost", "$& $1", false)).toEqual({
    type: "changed",
    text: "$& $1",
    replacements: 1,
  })
})

test("byte order mark and line endings stay the file's own", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "f"), "\uFEFFone\r\ntwo\r\nthree\r\n")
  await tools(space).edit.execute({ path: "f", oldString: "one\ntwo", newString: "1\n2\n2.5" }, openScene())
  expect(await readFile(join(space.root, "f"), "utf8")).toBe("\uFEFF1\r\n2\r\n2.5\r\nthree\r\n")
})

test("a model that writes CRLF does not bring it into a file without it", () => {
  expect(decideEdit("a\nb\n", "a\r\nb", "c\r\nd", false)).toMatchObject({ text: "c\nd\n" })
})

test("a file with mixed line endings is matched exactly", () => {
  expect(decideEdit("a\r\nb\nc", "b\nc", "d\ne", false)).toMatchObject({ text: "a\r\nd\ne" })
})

test("bytes that are not UTF-8 are not rewritten", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "f"), Buffer.from([0x61, 0xff, 0x62]))
  await expect(
    tools(space).edit.execute({ path: "f", oldString: "a", newString: "c" }, openScene()),
  ).rejects.toThrow(/not UTF-8/)
})

test("edits of one file at the same time all arrive", async () => {
  await using space = await openWorkspace()
  const words = Array.from({ length: 20 }, (_, at) => `<word-${at}>`)
  await writeFile(join(space.root, "f"), words.join("\n"))
  const { edit } = tools(space)
  await Promise.all(
    words.map((word) =>
      edit.execute({ path: "f", oldString: word, newString: word.toUpperCase() }, openScene()),
    ),
  )
  expect(await readFile(join(space.root, "f"), "utf8")).toBe(words.join("\n").toUpperCase())
})

test("a link is edited through, and stays a link", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "real"), "old")
  await symlink("real", join(space.root, "link"))
  await tools(space).edit.execute({ path: "link", oldString: "old", newString: "new" }, openScene())
  expect(await readFile(join(space.root, "real"), "utf8")).toBe("new")
  expect((await stat(join(space.root, "link"))).isFile()).toBe(true)
})

test("a file outside needs its directory's approval first", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.base, "note"), "old")
  const scene = openScene()
  await tools(space).edit.execute({ path: "../note", oldString: "old", newString: "new" }, scene)
  expect(scene.questions.map(({ action, resources }) => [action, resources])).toEqual([
    ["external_directory", [space.base]],
    ["edit", [join(space.base, "note")]],
  ])
})

test("write creates parents and replaces whole files", async () => {
  await using space = await openWorkspace()
  const { write } = tools(space)
  expect(textOf(await write.execute({ path: "a/b/c.txt", content: "héllo" }, openScene()))).toBe(
    "Created a/b/c.txt (6 bytes).",
  )
  expect(textOf(await write.execute({ path: "a/b/c.txt", content: "" }, openScene()))).toBe(
    "Replaced a/b/c.txt (0 bytes).",
  )
  expect(await readFile(join(space.root, "a/b/c.txt"), "utf8")).toBe("")
  expect(await readdir(join(space.root, "a/b"))).toEqual(["c.txt"])
})

test("write refuses directories, parents that are files, and too much", async () => {
  await using space = await openWorkspace()
  await mkdir(join(space.root, "dir"))
  await writeFile(join(space.root, "file"), "x")
  const { write } = tools(space)
  await expect(write.execute({ path: "dir", content: "" }, openScene())).rejects.toThrow(/is a directory/)
  await expect(write.execute({ path: "file/x", content: "" }, openScene())).rejects.toThrow(
    /is a file, not a directory/,
  )
  const content = "x".repeat(TOOL_LIMITS.writeBytes + 1)
  await expect(write.execute({ path: "big", content }, openScene())).rejects.toThrow(/at most/)
})

test("a directory swapped for a link while permission is asked is not written through", async () => {
  await using space = await openWorkspace()
  await mkdir(join(space.root, "safe"))
  await mkdir(join(space.base, "outside"))
  const scene = openScene({
    ask: async () => {
      await rename(join(space.root, "safe"), join(space.root, "moved"))
      await symlink("../outside", join(space.root, "safe"))
    },
  })
  await expect(tools(space).write.execute({ path: "safe/new", content: "x" }, scene)).rejects.toThrow(
    /link|not a directory/,
  )
  expect(await readdir(join(space.base, "outside"))).toEqual([])
})

test("a new link in place of a missing directory is not written through", async () => {
  await using space = await openWorkspace()
  await mkdir(join(space.base, "outside"))
  const scene = openScene({ ask: () => symlink("../outside", join(space.root, "new")) })
  await expect(tools(space).write.execute({ path: "new/file", content: "x" }, scene)).rejects.toThrow(
    /link|not a directory/,
  )
  expect(await readdir(join(space.base, "outside"))).toEqual([])
})
