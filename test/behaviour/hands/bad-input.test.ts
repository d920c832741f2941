/** Whatever a repository, a disk or a check may do, the checkout stays byte for byte the same. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { openRepositoryScene, type RepositoryScene } from "../../scene/repository.ts"
import { codeOf } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

const apply = (scene: RepositoryScene, run = "r1") => scene.call("run.apply", { run_ids: [run], space: "s1" })

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene()
    const before = scene.checkout()
    const hangs = await scene.work({}, { check: "sleep 1000", check_timeout: 1, check_rounds: 0 })
    expect(hangs.document).toMatchObject({ verdict: "refuted" })
    const more = { space: "s1", check_rounds: 0 }
    const gone = await scene.work({ "b.txt": "b\n" }, { ...more, check: 'rm -rf "$PWD"' })
    expect(gone.document).toMatchObject({ status: "succeeded", verdict: "verified" })
    const self = await scene.work({ "check.sh": "rm check.sh\n" }, { ...more, check: "sh check.sh" })
    expect(self.document).toMatchObject({ verdict: "verified" })
    expect(scene.checkout()).toBe(before)
    // What the checks removed is there again, and is applied.
    await apply(scene, "r2")
    await apply(scene, "r3")
    expect([scene.read("b.txt"), scene.read("check.sh")]).toEqual(["b\n", "rm check.sh\n"])
  },
  "a check that hangs, deletes its worktree or itself",
)

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene()
    const name = 'strange "name"\n\twith $everything'
    await scene.work({ [name]: "x\n", "-rf": "y\n" })
    const named = await scene.call("run.diff", { run_id: "r1", space: "s1" })
    expect(named.document["files"]).toMatchObject([{ path: "-rf" }, { path: name }])
    await apply(scene)
    expect([scene.read(name), scene.read("-rf")]).toEqual(["x\n", "y\n"])
    expect(scene.git("status", "--porcelain")).toBe("")
  },
  "paths with line breaks, quotes and dashes",
)

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene()
    const before = scene.checkout()
    await scene.work({}, {}, {}, "truncate -s 5G huge.bin")
    expect(await codeOf(apply(scene))).toBe("WORKTREE_TOO_LARGE")
    expect(scene.checkout()).toBe(before)
    // Harmless: it is ignored where it is, or comes along by name.
    truncateSync(join(scene.project, "a.txt"), 0)
    writeFileSync(join(scene.project, "big.bin"), "")
    truncateSync(join(scene.project, "big.bin"), 5 * 1024 ** 3)
    expect(await codeOf(scene.work({}, { space: "s1", with_changes: true }))).toBe("WORKTREE_TOO_LARGE")
    expect(scene.git("worktree", "list").split("\n")).toHaveLength(2)
  },
  "a file of 5 GB",
)

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene({ "in/a.txt": "a\n", "out/b.txt": "b\n" })
    scene.git("sparse-checkout", "set", "in")
    expect(existsSync(join(scene.project, "out/b.txt"))).toBe(false)
    const before = scene.checkout()
    await scene.work({ "in/a.txt": "two\n" })
    expect(scene.checkout()).toBe(before)
    await apply(scene)
    expect(scene.read("in/a.txt")).toBe("two\n")
    // What is left out stays left out, and is not a deletion.
    expect(existsSync(join(scene.project, "out/b.txt"))).toBe(false)
    expect(scene.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("in/a.txt\nout/b.txt")
    expect(scene.git("status", "--porcelain")).toBe("")
  },
  "a sparse checkout",
)

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene()
    const hooks = join(scene.project, ".git/hooks")
    mkdirSync(hooks, { recursive: true })
    for (const hook of [
      "pre-commit",
      "post-checkout",
      "commit-msg",
      "reference-transaction",
      "post-index-change",
    ]) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${scene.project}/hook-ran\nexit 1\n`)
      chmodSync(join(hooks, hook), 0o755)
    }
    await scene.work({ "a.txt": "two\n" })
    await apply(scene)
    expect(scene.read("a.txt")).toBe("two\n")
    expect(scene.read("hook-ran")).toBe(undefined)
  },
  "failing hooks affect nothing",
)

verifies(
  "hands.bad-input",
  async () => {
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    const scene = openRepositoryScene({
      "a.bin": pointer,
      ".gitattributes": "*.bin filter=lfs diff=lfs -text\n",
    })
    const before = scene.checkout()
    await scene.work({ "b.txt": "b\n" })
    expect(scene.checkout()).toBe(before)
    await apply(scene)
    expect([scene.read("a.bin"), scene.read("b.txt")]).toEqual([pointer, "b\n"])
    expect(scene.git("status", "--porcelain")).toBe("")
  },
  "pointers of Git LFS without LFS installed",
)

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene()
    await scene.work({ "a.txt": "two\n" })
    scene.git("checkout", "-qb", "other")
    scene.commit({ "a.txt": "other\n" })
    scene.git("checkout", "-q", "main")
    scene.commit({ "a.txt": "main\n" })
    expect(() => scene.git("merge", "other")).toThrow("git merge")
    const before = scene.checkout()
    expect(await codeOf(apply(scene))).toBe("REPOSITORY_BUSY")
    expect(scene.checkout()).toBe(before)
  },
  "a merge that is under way",
)

/** Of large files only the beginning can be written, as on a disk that fills up. */
const onFullDisk = (scene: RepositoryScene): Readonly<Record<string, string>> => {
  const folder = join(scene.env["HOME"] ?? "", "full")
  mkdirSync(folder)
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim()
  writeFileSync(join(folder, "git"), `#!/bin/sh\ntrap '' XFSZ\nulimit -f 64\nexec ${real} "$@"\n`)
  chmodSync(join(folder, "git"), 0o755)
  return { PATH: `${folder}:${scene.env["PATH"] ?? ""}` }
}

verifies(
  "hands.bad-input",
  async () => {
    const large = "the same line again and again\n".repeat(10_000)
    const scene = openRepositoryScene({ "a.txt": "one\n", "large.txt": large })
    const before = scene.checkout()
    const env = onFullDisk(scene)
    expect(await codeOf(scene.work({ "a.txt": "two\n" }, {}, { env }))).toBe("GIT_FAILED")
    expect(scene.checkout()).toBe(before)
    expect(scene.git("worktree", "list").split("\n")).toHaveLength(1)
    expect(scene.git("branch", "--list", "meridian/*")).toBe("")
    const run = await scene.work({ "new.txt": large.toUpperCase() }, { space: "s1" })
    const id = String(run.document["run_id"])
    const applied = scene.call("run.apply", { run_ids: [id], space: "s1" }, { env })
    expect(await codeOf(applied)).toBe("GIT_FAILED")
    expect(scene.checkout()).toBe(before)
    // With room again it continues.
    await apply(scene, id)
    expect(scene.read("new.txt")).toBe(large.toUpperCase())
  },
  "a disk that is full during checkout, and during apply",
)

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene()
    const before = scene.checkout()
    // What it leaves behind holds the output open, after the check itself has ended.
    const loud = 'sleep 1000 & head -c 256M /dev/zero | tr "\\0" x'
    const { document } = await scene.work({ "b.txt": "b\n" }, { check: loud, check_rounds: 0 })
    expect(document).toMatchObject({ status: "succeeded", verdict: "verified" })
    expect(scene.checkout()).toBe(before)
    const folder = scene.state("s1/runs/r1")
    const kept = readdirSync(folder, { recursive: true, encoding: "utf8" }).map(
      (name) => statSync(join(folder, name)).size,
    )
    expect(Math.max(...kept)).toBeLessThan(17 * 1024 * 1024)
  },
  "a check that prints 256 MB and leaves a process behind",
)

verifies(
  "hands.bad-input",
  async () => {
    const scene = openRepositoryScene()
    await scene.work({ "b.txt": "b\n" })
    scene.git("checkout", "--quiet", "-b", "side")
    scene.commit({ "a.txt": "side\n" })
    scene.git("checkout", "--quiet", "main")
    scene.commit({ "a.txt": "main\n" })
    scene.git("checkout", "--quiet", "side")
    expect(() => scene.git("rebase", "main")).toThrow("conflict")
    scene.write({ "staged.txt": "staged\n" })
    scene.git("add", "staged.txt")
    const before = scene.checkout()
    expect(await codeOf(apply(scene))).toBe("REPOSITORY_BUSY")
    expect(scene.checkout()).toBe(before)
    scene.git("rebase", "--abort")
    scene.git("checkout", "--quiet", "main")
    await apply(scene)
    expect(scene.read("b.txt")).toBe("b\n")
  },
  "a rebase that is under way, with a staged file",
)
