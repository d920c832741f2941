import { writeFileSync } from "node:fs"
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"

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
  ["a move without a name", ["*** Update File: a", "*** Move to: "], /does not say where/],
  ["a move to itself", ["*** Update File: a", "*** Move to: ./a"], /appears twice/],
  ["a move over a file of the patch", ["*** Update File: a", "*** Move to: first"], /appears twice/],
  ["a move of a missing file", ["*** Update File: gone", "*** Move to: b"], /does not exist/],
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

const MODE = (0o666 & ~process.umask()).toString(8)

/** Every file with its mode, links and content, and every directory. */
const treeOf = async (space: Workspace): Promise<readonly string[]> => {
  const entries = await readdir(space.root, { recursive: true, withFileTypes: true })
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile()) return `${relative(space.root, path)}/`
    const { mode, nlink } = await stat(path)
    return `${relative(space.root, path)} ${(mode & 0o777).toString(8)} ${nlink} ${await readFile(path, "utf8")}`
  })
  return (await Promise.all(lines)).toSorted()
}

verifies(
  "tools.patch.partial",
  async () => {
    await using space = await openWorkspace()
    await put(space, "changed", "x\n")
    await put(space, "last", "x\n")
    await put(space, "moved", "x\n")
    await chmod(join(space.root, "changed"), 0o640)
    const before = await treeOf(space)
    const text = patch(
      "*** Update File: changed",
      "-x",
      "+y",
      "*** Delete File: last",
      "*** Update File: moved",
      "*** Move to: deep/er/moved",
      "*** Add File: a/b",
      "+below",
      "*** Add File: a",
      "+file",
    )
    await expect(apply(space, text)).rejects.toMatchObject({
      code: "failed",
      message: 'Nothing of the patch was applied. "a" is a directory.',
    })
    expect(await treeOf(space)).toEqual(before)
  },
  "a change that fails on disk takes the earlier ones back, with their modes and without new directories",
)

test("an interrupt between two changes undoes the first", async () => {
  await using space = await openWorkspace()
  await put(space, "a", "one\n")
  await put(space, "b", "one\n")
  const before = await treeOf(space)
  const after = [`a ${MODE} 1 1\n`, "c/", `c/d ${MODE} 1 new\n`]
  let applied = false
  let looks = 0
  for (; !applied; looks += 1) {
    // Aborted from its n-th check on, so that each boundary between two steps is hit once.
    let left = looks
    const signal = new AbortController().signal
    Object.defineProperty(signal, "aborted", { get: () => left-- <= 0 })
    const lines = ["*** Update File: a", "-one", "+1", "*** Delete File: b", "*** Add File: c/d", "+new"]
    applied = await apply(space, patch(...lines), openScene({ signal })).then(
      () => true,
      () => false,
    )
    const now = await treeOf(space)
    expect(now).toEqual(applied ? after : before)
  }
  expect(looks).toBeGreaterThan(6)
})

test("what somebody else has changed is left alone and named", async () => {
  await using space = await openWorkspace()
  await put(space, "a", "one\n")
  await put(space, "b", "one\n")
  let looks = 0
  const signal = new AbortController().signal
  Object.defineProperty(signal, "aborted", {
    get: () => {
      looks += 1
      // The first change is in place, the second is next.
      if (looks === 5) writeFileSync(join(space.root, "a"), "theirs\n")
      return looks === 5
    },
  })
  await expect(
    apply(
      space,
      patch("*** Update File: a", "-one", "+1", "*** Update File: b", "-one", "+1"),
      openScene({ signal }),
    ),
  ).rejects.toThrow(/taken back, except for files that somebody else changed meanwhile: a\./)
  expect(await treeOf(space)).toEqual([`a ${MODE} 1 theirs\n`, `b ${MODE} 1 one\n`])
})

test("a file is moved with its mode, changed or not, in one question about both names", async () => {
  await using space = await openWorkspace()
  await put(space, "run.sh", "one\ntwo\n")
  await chmod(join(space.root, "run.sh"), 0o755)
  await writeFile(join(space.root, "picture"), Buffer.from([0, 255, 1]))
  const scene = openScene()
  const output = await apply(
    space,
    patch(
      "*** Update File: run.sh",
      "*** Move to: bin/run.sh",
      "@@",
      " one",
      "-two",
      "+2",
      "*** Update File: picture",
      "*** Move to: picture.bin",
    ),
    scene,
  )
  expect(textOf(output)).toBe("Applied the patch:\nR run.sh -> bin/run.sh\nR picture -> picture.bin")
  expect(await get(space, "bin/run.sh")).toBe("one\n2\n")
  expect((await stat(join(space.root, "bin/run.sh"))).mode & 0o777).toBe(0o755)
  expect([...(await readFile(join(space.root, "picture.bin")))]).toEqual([0, 255, 1])
  expect((await readdir(space.root)).toSorted()).toEqual(["bin", "picture.bin"])
  expect(scene.questions.map(({ action, resources, title }) => [action, resources, title])).toEqual([
    ["edit", ["run.sh", "bin/run.sh", "picture", "picture.bin"], "Apply a patch to 2 files"],
  ])
})

test("a move never overwrites a file, and never takes a link", async () => {
  await using space = await openWorkspace()
  await put(space, "a", "one\n")
  await put(space, "b", "other\n")
  await symlink("a", join(space.root, "link"))
  await expect(apply(space, patch("*** Update File: a", "*** Move to: b"))).rejects.toThrow(/exists already/)
  await expect(apply(space, patch("*** Update File: link", "*** Move to: c"))).rejects.toThrow(/is a link/)
  expect((await readdir(space.root)).toSorted()).toEqual(["a", "b", "link"])
})

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
])("the wrapping of a patch is removed (%#)", (wrapped) => {
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
