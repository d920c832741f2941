import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

import { openRepositoryScene, type RepositoryScene } from "../../scene/repository.ts"
import type { Document } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

const doctor = async (scene: RepositoryScene, yes = false) => {
  const answer = await scene.call("doctor", {}, { confirm: () => yes })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the operation's own shape
  const findings = answer.document["findings"] as readonly Document[]
  return findings.filter(({ id }) => String(id).includes("worktree") || id === "interrupted_apply")
}

const pathOf = async (scene: RepositoryScene, run: string): Promise<string> =>
  String((await scene.call("run.worktree", { run_id: run, space: "s1" })).document["path"])

verifies("doctor.worktrees", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "a.txt": "two\n" })
  await scene.work({ "b.txt": "new\n" }, { space: "s1" })
  const [first, second] = [await pathOf(scene, "r1"), await pathOf(scene, "r2")]
  // Recorded work waits to be applied.
  expect(await doctor(scene, true)).toEqual([])
  expect(existsSync(first)).toBe(true)
  // The second is recorded nowhere any more, and its work exists only there.
  rmSync(scene.state("s1"), { recursive: true })
  expect(await doctor(scene)).toMatchObject([
    { id: "unclaimed_worktrees", repaired: false },
    { id: "unclaimed_worktrees", repaired: false },
  ])
  expect([existsSync(first), existsSync(second)]).toEqual([true, true])
  expect(await doctor(scene, true)).toMatchObject([{ repaired: true }, { repaired: true }])
  expect([existsSync(first), existsSync(second)]).toEqual([false, false])
  expect(scene.git("show", "refs/meridian/discarded/s1-r2:b.txt")).toBe("new")
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1)
  expect(scene.git("branch", "--list", "meridian/*")).toBe("")
  expect(await doctor(scene)).toEqual([])
})

test("doctor removes the worktree of a run that failed before it did anything, and keeps one with work", async () => {
  const scene = openRepositoryScene()
  await scene.work({}, {}, {}, "exit 1")
  await scene.work({ "a.txt": "half\n" }, { space: "s1" }, {}, "exit 1")
  const [idle, half] = [await pathOf(scene, "r1"), await pathOf(scene, "r2")]
  expect(await doctor(scene, true)).toMatchObject([
    { id: "worktree_leftovers", space_id: "s1", repaired: true },
  ])
  expect([existsSync(idle), existsSync(half)]).toEqual([false, true])
  expect(await scene.call("run.diff", { run_id: "r2", space: "s1" })).toMatchObject({ text: "" })
})

test("doctor clears an index.lock of a worktree whose run has ended, but no other", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "a.txt": "two\n" })
  const gitDir = scene.gitIn(await pathOf(scene, "r1"), "rev-parse", "--absolute-git-dir")
  writeFileSync(join(gitDir, "index.lock"), "")
  const foreign = join(scene.project, ".git/index.lock")
  writeFileSync(foreign, "")
  expect(await doctor(scene)).toMatchObject([{ id: "worktree_leftovers", repaired: true }])
  expect(existsSync(join(gitDir, "index.lock"))).toBe(false)
  expect(existsSync(foreign)).toBe(true)
})

test("doctor leaves the worktree of another project of the same repository alone", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "a.txt": "two\n" })
  const path = await pathOf(scene, "r1")
  const other = join(dirname(scene.project), "other")
  scene.git("worktree", "add", "--quiet", "--detach", other)
  mkdirSync(join(other, ".meridian"))
  const answer = await scene.call("doctor", {}, { cwd: other, confirm: () => true })
  expect(answer.document["findings"]).toEqual([])
  expect(existsSync(path)).toBe(true)
})

test("doctor leaves a folder that is not a worktree of the repository, and says so", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "a.txt": "two\n" })
  const stranger = join(dirname(await pathOf(scene, "r1")), "s7-r7")
  mkdirSync(stranger)
  writeFileSync(join(stranger, "mine"), "")
  expect(await doctor(scene, true)).toMatchObject([{ id: "unclaimed_worktrees", repaired: false }])
  expect(existsSync(join(stranger, "mine"))).toBe(true)
})
