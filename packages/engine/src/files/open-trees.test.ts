import { execFileSync } from "node:child_process"
import { lstatSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, onTestFinished, test } from "vitest"

import type { FileTrees } from "../port/file-trees.ts"
import { openPlace } from "./open-place.ts"
import { openTrees } from "./open-trees.ts"

const ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", GIT_CEILING_DIRECTORIES: tmpdir() }

interface House {
  readonly project: string
  readonly trees: FileTrees
  readonly put: (name: string, content: string) => void
  readonly git: (...words: readonly string[]) => string
}

const openHouse = async ({
  format = "sha1",
  database,
}: { readonly format?: string; readonly database?: string } = {}): Promise<House> => {
  const base = mkdtempSync(join(tmpdir(), "meridian-open-trees-"))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const project = join(base, "project")
  mkdirSync(join(project, "folder"), { recursive: true })
  const git = (...words: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], {
      cwd: project,
      encoding: "utf8",
      env: ENVIRONMENT,
    })
  const put = (name: string, content: string): void => writeFileSync(join(project, name), content)
  put("folder/a", "one\n")
  git("init", "--quiet", `--object-format=${format}`)
  git("add", "--all")
  git("commit", "--quiet", "-m", "first")
  if (database !== undefined) put(database, "log\n")
  const place = await openPlace(project, {
    root: join(base, "state"),
    environment: ENVIRONMENT,
    database: database && join(project, database),
  })
  const trees = openTrees(place)
  return { project, trees, put, git }
}

test("a file that changes in the very moment after a look, to the same size and with the same time, is seen", async () => {
  const { project, trees, put } = await openHouse()
  await trees.take()
  put("folder/a", "longer than before\n")
  await trees.take()
  put("folder/a", "new\n")
  const seen = new Set([(await trees.take()).tree])
  for (let round = 0; round < 12; round += 1) {
    const { atime, mtime } = lstatSync(join(project, "folder/a"))
    put("folder/a", `${String(round).padStart(3, "0")}\n`)
    utimesSync(join(project, "folder/a"), atime, mtime)
    seen.add((await trees.take()).tree)
  }
  expect(seen.size).toBe(13)
})

test("a file that comes or goes in the very moment after a look is seen, in folders that were read before", async () => {
  const { project, trees, put } = await openHouse()
  const first = await trees.take()
  for (let round = 0; round < 8; round += 1) {
    put("folder/new", "new\n")
    expect((await trees.compare(first.tree, (await trees.take()).tree)).map(({ path }) => path)).toEqual([
      "folder/new",
    ])
    rmSync(join(project, "folder/new"))
    expect((await trees.take()).tree).toBe(first.tree)
  }
})

test("what is ignored is asked for anew when the words for it change", async () => {
  const { trees, put } = await openHouse()
  put("folder/b", "b\n")
  const all = await trees.take()
  put(".gitignore", "b\n")
  put("folder/b.b", "b\n")
  const some = await trees.take()
  expect((await trees.compare(all.tree, some.tree)).map(({ path }) => path)).toEqual([
    ".gitignore",
    "folder/b.b",
  ])
  put("folder/c", "c\n")
  put(".gitignore", "c\n")
  expect([...(await trees.read((await trees.take()).tree)).keys()]).not.toContain("folder/c")
})

test.each(["sha1", "sha256"])(
  "objects are what git makes of the same files, in a repository of %s",
  async (format) => {
    const { project, trees, put, git } = await openHouse({ format })
    put("folder.x", "sorts before the folder\n")
    put("folder0", "sorts behind it\n")
    mkdirSync(join(project, "folder/deep/er"), { recursive: true })
    put("folder/deep/er/ü", "")
    const names = ["folder.x", "folder0", "folder/a", "folder/deep/er/ü"]
    const { tree } = await trees.take(names.map((name) => join(project, name)))
    git("add", "--all")
    expect(tree).toBe(git("write-tree").trim())
    expect(git("fsck", "--strict", "--no-dangling")).toBe("")
  },
)

test("the engine's database and what is named after it are never kept, by nobody's wish", async () => {
  const { project, trees, put } = await openHouse({ database: "engine.sqlite" })
  mkdirSync(join(project, "engine.sqlite.output.trees"))
  const ours = ["engine.sqlite", "engine.sqlite-wal", "engine.sqlite-shm", "engine.sqlite.output.trees/index"]
  for (const name of [...ours, "engine.sql", "folder/b"]) put(name, "one\n")
  const first = await trees.take()
  expect([...(await trees.read(first.tree)).keys()].toSorted()).toEqual([
    "engine.sql",
    "folder/a",
    "folder/b",
  ])
  for (const name of ours) put(name, "two, longer\n")
  expect((await trees.take()).tree).toBe(first.tree)
  const named = await trees.take([join(project, "engine.sqlite-wal"), join(project, "folder/b")])
  expect(named).toMatchObject({ paths: ["folder/b"], skipped: ["engine.sqlite-wal"] })
})
