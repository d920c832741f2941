import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openPlace } from "./open-place.ts"
import { openTrees } from "./open-trees.ts"
import { trimStore } from "./trim-store.ts"

test("a store outside a repository drops the older half when it is too large, and keeps the rest", async () => {
  const base = mkdtempSync(join(tmpdir(), "meridian-trees-"))
  try {
    const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", GIT_CEILING_DIRECTORIES: tmpdir() }
    const place = await openPlace(base, { root: join(base, "node_modules"), environment })
    expect(place.isRepository).toBe(false)
    const trees = openTrees(place)
    const taken: string[] = []
    for (const name of ["a", "b"]) {
      writeFileSync(join(base, name), randomBytes(200_000))
      taken.push((await trees.take([join(base, name)])).tree)
      await trees.hold("ses_1", taken.slice(-1))
    }
    await trimStore(place, 1_000_000)
    expect((await trees.read(taken[0] ?? "")).size).toBe(1)
    await trimStore(place, 300_000)
    await expect(trees.read(taken[0] ?? "")).rejects.toThrow("git diff-tree failed")
    expect([...(await trees.read(taken[1] ?? "")).keys()]).toEqual(["b"])
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
})
