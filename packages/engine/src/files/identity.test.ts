import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import * as fc from "fast-check"
import { expect } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { openPlace } from "./open-place.ts"
import { openTrees } from "./open-trees.ts"

type Files = ReadonlyMap<string, string>

const NAME = fc.constantFrom("a", "b", "d/a", "d/b", "e\nf", "g h/i", "ü/ö", "-x", "d.txt")
const CONTENT = fc.oneof(fc.constantFrom("", "a\n", "a\r\nb", "\u0000\u0001"), fc.string({ maxLength: 20 }))
const FILES = fc
  .dictionary(NAME, CONTENT, { maxKeys: 6 })
  .map((files): Files => new Map(Object.entries(files)))

const become = (base: string, files: Files): void => {
  for (const name of readdirSync(base)) if (name !== ".state") rmSync(join(base, name), { recursive: true })
  for (const [name, content] of files) {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), content)
  }
}

const read = (base: string): Files =>
  new Map(
    readdirSync(base, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith(".state") && statSync(join(base, name)).isFile())
      .toSorted()
      .map((name) => [name, readFileSync(join(base, name), "utf8")]),
  )

verifies("undo.identity", async () => {
  const base = mkdtempSync(join(tmpdir(), "meridian-identity-"))
  const project = join(base, "project")
  mkdirSync(project)
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", GIT_CEILING_DIRECTORIES: base }
  try {
    const trees = openTrees(await openPlace(project, { root: join(base, "state"), environment }))
    await fc.assert(
      fc.asyncProperty(FILES, FILES, async (before, after) => {
        become(project, before)
        const kept = read(project)
        const first = await trees.take()
        become(project, after)
        const changed = read(project)
        const second = await trees.take()
        await trees.write(second.tree, first.tree)
        expect(read(project)).toEqual(kept)
        await trees.write(first.tree, second.tree)
        expect(read(project)).toEqual(changed)
      }),
      { numRuns: 4 },
    )
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
})
