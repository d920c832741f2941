import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { describe, expect, test } from "vitest"

import { findProject } from "./find-project.ts"

describe("the project of a folder", () => {
  test.each([".meridian", ".git", ".agents/skills"])(
    "is the nearest folder upward with %s, also when it lies in the temporary folder",
    (sign) => {
      const { folder, make } = scene()
      make(`project/${sign}`, "project/deep/down")
      expect(findProject({ TMPDIR: folder }, join(folder, "project/deep/down"))).toBe(join(folder, "project"))
    },
  )

  test("is the folder itself if no parent is a project", () => {
    const { folder, make } = scene()
    make("plain/sub")
    expect(findProject({ HOME: folder }, join(folder, "plain/sub"))).toBe(join(folder, "plain/sub"))
  })

  test("is not the home folder above it, which has skills and state for all, except for a command in that folder itself", () => {
    const { folder, make } = scene()
    make("home/.agents/skills", "home/.meridian", "home/plain/sub", ".meridian")
    const env = { HOME: join(folder, "home") }
    expect(findProject(env, join(folder, "home/plain/sub"))).toBe(join(folder, "home/plain/sub"))
    expect(findProject(env, join(folder, "home"))).toBe(join(folder, "home"))
  })

  test("is the home folder if that is a repository, as for git", () => {
    const { folder, make } = scene()
    make("home/.git", "home/plain")
    expect(findProject({ HOME: join(folder, "home") }, join(folder, "home/plain"))).toBe(join(folder, "home"))
  })

  test("also knows the home folder by the name of a link to it", () => {
    const { folder, make } = scene()
    make("data/.meridian", "data/plain")
    symlinkSync(join(folder, "data"), join(folder, "home"))
    expect(findProject({ HOME: join(folder, "home") }, join(folder, "data/plain"))).toBe(
      join(folder, "data/plain"),
    )
  })

  test("is never a temporary folder above it, whether configured or world-writable", () => {
    const { folder, make } = scene()
    make("told/.meridian", "told/plain", "shared/.git", "shared/plain")
    chmodSync(join(folder, "shared"), 0o1777)
    expect(findProject({ TMPDIR: join(folder, "told") }, join(folder, "told/plain"))).toBe(
      join(folder, "told/plain"),
    )
    expect(findProject({}, join(folder, "shared/plain"))).toBe(join(folder, "shared/plain"))
    expect(findProject({}, join(folder, "shared"))).toBe(join(folder, "shared"))
  })

  test("may be a world-writable project, as in a container", () => {
    const { folder, make } = scene()
    make("open/.git", "open/src")
    chmodSync(join(folder, "open"), 0o777)
    expect(findProject({}, join(folder, "open/src"))).toBe(join(folder, "open"))
  })
})

const scene = (): { readonly folder: string; readonly make: (...paths: readonly string[]) => void } => {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), "meridian-project-")))
  return {
    folder,
    make: (...paths) => {
      for (const path of paths) mkdirSync(join(folder, path), { recursive: true })
    },
  }
}
