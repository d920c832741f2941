import { chmod, link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openWorkspace, type Workspace } from "../../../../test/tool-scene.ts"
import { changeFiles } from "./change-files.ts"
import { openFileLocks } from "./file-locks.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openParent } from "./open-verified.ts"
import { readSnapshot, replaceFile } from "./replace-file.ts"
import { resolvePath } from "./resolve-path.ts"

const at = (space: Workspace, name: string) => join(space.root, name)
const NEW = Buffer.from("new")

const CHANGES: readonly (readonly [what: string, (file: string) => Promise<void>])[] = [
  ["other content", (file) => writeFile(file, "other")],
  ["other content of the same length", (file) => writeFile(file, "OLD")],
  [
    "another file with the same content",
    async (file) => {
      await writeFile(`${file}.2`, "old")
      await rename(`${file}.2`, file)
    },
  ],
  ["another mode", (file) => chmod(file, 0o600)],
  ["nothing", (file) => rm(file)],
  [
    "a link to the same content",
    async (file) => {
      await rename(file, `${file}.moved`)
      await symlink(`${file}.moved`, file)
    },
  ],
]

test.each(CHANGES)("a file that became %s is neither replaced nor deleted", async (_, change) => {
  await using space = await openWorkspace()
  await writeFile(at(space, "f"), "old")
  const path = await resolvePath(space, "f")
  const snapshot = await readSnapshot(path)
  await change(at(space, "f"))
  const before = await readdir(space.root)
  await expect(replaceFile(path, NEW, { type: "unchanged", snapshot })).rejects.toMatchObject({
    name: "ToolError",
  })
  const { signal } = new AbortController()
  expect(await changeFiles([{ type: "delete", path, snapshot }], signal)).toMatchObject({
    kind: "failed",
    left: [],
  })
  expect(await readdir(space.root)).toEqual(before)
})

test("a file that must be absent is never overwritten", async () => {
  await using space = await openWorkspace()
  await writeFile(at(space, "f"), "old")
  await expect(replaceFile(await resolvePath(space, "f"), NEW, { type: "absent" })).rejects.toThrow(
    /exists already/,
  )
  expect(await readFile(at(space, "f"), "utf8")).toBe("old")
  expect(await replaceFile(await resolvePath(space, "a/g"), NEW, { type: "absent" })).toBe("created")
  expect(await readdir(at(space, "a"))).toEqual(["g"])
  expect((await stat(at(space, "a/g"))).nlink).toBe(1)
})

test("of many calls that add the same file one succeeds", async () => {
  await using space = await openWorkspace()
  const path = await resolvePath(space, "f")
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, (_, number) =>
      replaceFile(path, Buffer.from(String(number)), { type: "absent" }),
    ),
  )
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
  expect(await readdir(space.root)).toEqual(["f"])
})

test("a reader sees the old file or the new one, never a part", async () => {
  await using space = await openWorkspace()
  const path = await resolvePath(space, "f")
  const texts = ["a", "b"].map((letter) => letter.repeat(300_000))
  await writeFile(at(space, "f"), texts[0] ?? "")
  const done = new AbortController()
  const write = async () => {
    for (let round = 0; round < 30; round++)
      await replaceFile(path, Buffer.from(texts[round % 2] ?? ""), { type: "anything" })
    done.abort()
  }
  const read = async () => {
    const seen = new Set<string>()
    while (!done.signal.aborted) seen.add(await readFile(at(space, "f"), "utf8"))
    return seen
  }
  const [seen] = await Promise.all([read(), write()])
  expect([...seen].every((text) => texts.includes(text))).toBe(true)
})

test("other names of a file keep the old content, its mode goes on", async () => {
  await using space = await openWorkspace()
  await writeFile(at(space, "f"), "old", { mode: 0o640 })
  await chmod(at(space, "f"), 0o2755)
  await link(at(space, "f"), at(space, "other"))
  await replaceFile(await resolvePath(space, "f"), NEW, { type: "anything" })
  expect(await readFile(at(space, "other"), "utf8")).toBe("old")
  expect((await stat(at(space, "f"))).mode & 0o7777).toBe(0o2755)
})

test("a file at the bound is read, one byte more is refused", async () => {
  await using space = await openWorkspace()
  await writeFile(at(space, "at"), Buffer.alloc(TOOL_LIMITS.editFileBytes))
  await writeFile(at(space, "over"), Buffer.alloc(TOOL_LIMITS.editFileBytes + 1))
  expect((await readSnapshot(await resolvePath(space, "at"))).bytes).toHaveLength(TOOL_LIMITS.editFileBytes)
  await expect(readSnapshot(await resolvePath(space, "over"))).rejects.toThrow(/larger than 10 MiB/)
})

test("a name as long as a file may have can be written", async () => {
  await using space = await openWorkspace()
  const name = "n".repeat(TOOL_LIMITS.segmentBytes)
  await replaceFile(await resolvePath(space, name), NEW, { type: "anything" })
  expect(await readdir(space.root)).toEqual([name])
})

test("a directory that turns into a link at any moment of a write never lets it out", async () => {
  await using space = await openWorkspace()
  await mkdir(join(space.base, "outside"))
  for (let round = 0; round < 40; round++) {
    const name = `dir${round}`
    await mkdir(at(space, name))
    const path = await resolvePath(space, `${name}/a/b/f`)
    const swap = async () => {
      for (let turns = 0; turns < round % 10; turns++) await stat(space.root)
      await rename(at(space, name), at(space, `${name}.moved`))
      await symlink(join(space.base, "outside"), at(space, name))
    }
    await Promise.allSettled([replaceFile(path, NEW, { type: "anything" }), swap()])
  }
  expect(await readdir(join(space.base, "outside"))).toEqual([])
})

test("an opened directory stays the same one when its name becomes a link", async () => {
  await using space = await openWorkspace()
  await mkdir(at(space, "dir"))
  await mkdir(join(space.base, "outside"))
  await using parent = await openParent(await resolvePath(space, "dir/f"), { create: false })
  await rename(at(space, "dir"), at(space, "moved"))
  await symlink(join(space.base, "outside"), at(space, "dir"))
  await writeFile(parent.child("f"), "x")
  expect(await readdir(join(space.base, "outside"))).toEqual([])
  expect(await readdir(at(space, "moved"))).toEqual(["f"])
})

test("locks are granted in order, to one at a time, and released by failures", async () => {
  const locks = openFileLocks()
  const order: string[] = []
  const { promise: first, resolve: release } = Promise.withResolvers<void>()
  const a = locks.hold(["x", "y"], async () => {
    await first
    order.push("a")
    throw new Error("failed")
  })
  const b = locks.hold(["y", "x"], async () => void order.push("b"))
  const c = locks.hold(["z"], async () => void order.push("c"))
  await c
  release()
  await expect(a).rejects.toThrow("failed")
  await b
  expect(order).toEqual(["c", "a", "b"])
})
