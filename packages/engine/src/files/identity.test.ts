import { execFileSync } from "node:child_process"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import * as fc from "fast-check"
import { expect } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { openPlace } from "./open-place.ts"
import { openTrees } from "./open-trees.ts"

type Kind = "file" | "program" | "link"
/** By path: kind and content. */
type Files = ReadonlyMap<string, readonly [kind: Kind, content: string]>

/** Files and folders take each other's place, names sort around the slash, and `*.log` is ignored. */
const NAME = fc.constantFrom("a", "a/b", "a.b", "d/a", "d/b", "d", "e\nf", "g h/i", "ü/ö", "-x", "d/own.log")
const CONTENT = fc.oneof(
  fc.constantFrom("", "a\n", "b\n", "a\r\nb", "\u0000\u0001"),
  fc.string({ maxLength: 20 }),
)
const FILE = fc.tuple(fc.constantFrom<Kind>("file", "file", "program", "link"), CONTENT)
const FILES = fc.dictionary(NAME, FILE, { maxKeys: 7 }).map((files): Files => new Map(Object.entries(files)))

/** When several cannot share a place, the first wins. */
const become = (base: string, files: Files): void => {
  for (const name of readdirSync(base))
    if (name !== ".git" && name !== ".gitignore") rmSync(join(base, name), { recursive: true })
  for (const [name, [kind, content]] of files) {
    const path = join(base, name)
    try {
      mkdirSync(dirname(path), { recursive: true })
      if (kind === "link") symlinkSync(/^[^\0]+$/.test(content) ? content : "nowhere", path)
      else writeFileSync(path, content)
      if (kind === "program") chmodSync(path, 0o755)
    } catch {
      continue
    }
  }
}

const read = (base: string, isWanted: (name: string) => boolean): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(base, { recursive: true, encoding: "utf8" })
      .filter((name) => !/^\.git(?:\/|$)/.test(name) && isWanted(name))
      .toSorted()
      .flatMap((name) => {
        const stat = lstatSync(join(base, name))
        if (stat.isSymbolicLink()) return [[name, `-> ${readlinkSync(join(base, name))}`]]
        return stat.isFile() ? [[name, `${stat.mode & 0o111} ${readFileSync(join(base, name), "utf8")}`]] : []
      }),
  )

const isKept = (name: string): boolean => !name.endsWith(".log")

const HOUSES = { "in a repository": true, "outside of one": false }

for (const [where, isRepository] of Object.entries(HOUSES))
  verifies(
    "undo.identity",
    async () => {
      const base = mkdtempSync(join(tmpdir(), "meridian-identity-"))
      const project = join(base, "project")
      mkdirSync(project)
      const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", GIT_CEILING_DIRECTORIES: base }
      writeFileSync(join(project, ".gitignore"), "*.log\n")
      if (isRepository) execFileSync("git", ["init", "--quiet"], { cwd: project, env: environment })
      try {
        const trees = openTrees(await openPlace(project, { root: join(base, "state"), environment }))
        const property = fc.asyncProperty(FILES, FILES, async (before, after) => {
          become(project, before)
          const kept = read(project, isKept)
          const first = await trees.take()
          become(project, after)
          const [changed, ignored] = [read(project, isKept), read(project, (name) => !isKept(name))]
          const second = await trees.take()
          // The same files always make the same tree.
          expect((await trees.take()).tree).toBe(second.tree)
          // Ignored files are never removed. Where one is in the way, nothing is written.
          const isWritten = await trees.write(second.tree, first.tree).then(
            () => true,
            () => false,
          )
          expect(read(project, (name) => !isKept(name))).toEqual(ignored)
          expect(read(project, isKept)).toEqual(isWritten ? kept : changed)
          if (!isWritten) {
            expect(Object.keys(ignored)).not.toEqual([])
            return
          }
          await trees.write(first.tree, second.tree)
          expect(read(project, isKept)).toEqual(changed)
        })
        await fc.assert(property, { numRuns: 12 })
      } finally {
        rmSync(base, { recursive: true, force: true })
      }
    },
    where,
  )
