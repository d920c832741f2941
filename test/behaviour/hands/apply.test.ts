import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openRepositoryScene } from "../../scene/repository.ts"
import { codeOf, until } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

verifies("run.apply", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "b.txt": "new\n", "a.txt": "two\n" })
  const { document, text } = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(document).toMatchObject({
    applied: [{ run_id: "r1", commits: 1, branch: "main", files: ["a.txt", "b.txt"] }],
  })
  expect(text).toBe(`r1: 2 files, 1 commit on main, now ${scene.git("rev-parse", "HEAD").slice(0, 10)}`)
  expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual(["two\n", "new\n"])
  expect(scene.git("status", "--porcelain")).toBe("")
  expect(scene.git("log", "-1", "--format=%an%n%B")).toBe("Somebody\ndo it\n\nMeridian-Run: s1/r1\n")
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1)
  expect(scene.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main")
  expect(existsSync(join(scene.project, ".git/worktrees/s1-r1"))).toBe(false)
})

verifies(
  "run.apply",
  async () => {
    const scene = openRepositoryScene({ "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n" })
    const does = [
      "git -c user.name=Agent -c user.email=agent@example.org commit -qam 'first of it'",
      "sed -i s/8/eight/ a.txt && git -c user.name=Agent -c user.email=agent@example.org commit -qam 'second of it'",
      "echo rest > rest.txt",
    ].join(" && ")
    await scene.work({ "a.txt": "one\n2\n3\n4\n5\n6\n7\n8\n" }, {}, {}, does)
    scene.commit({ "mine.txt": "mine\n" })
    const { document } = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
    expect(document).toMatchObject({ applied: [{ commits: 3 }] })
    expect(scene.git("log", "--format=%an|%cn|%s")).toBe(
      [
        "Somebody|Somebody|do it",
        "Agent|Somebody|second of it",
        "Agent|Somebody|first of it",
        "Somebody|Somebody|more",
        "Somebody|Somebody|first",
      ].join("\n"),
    )
    expect(scene.read("a.txt")).toBe("one\n2\n3\n4\n5\n6\n7\neight\n")
    expect(scene.read("mine.txt")).toBe("mine\n")
  },
  "its own commits are kept, and its uncommitted changes become one more",
)

verifies(
  "run.apply",
  async () => {
    const scene = openRepositoryScene({ "a.txt": "one\n" })
    // One by one they conflict with the branch; together they do not.
    const does =
      "git commit -qam wrong && echo right > a.txt && echo b > b.txt && git add -A && git commit -qm right"
    await scene.work({ "a.txt": "wrong\n" }, {}, {}, does)
    scene.commit({ "a.txt": "right\n" })
    const { document } = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
    expect(document).toMatchObject({ applied: [{ commits: 1, files: ["b.txt"] }] })
    expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual(["right\n", "b\n"])
  },
  "three-way if one by one conflicts",
)

verifies(
  "run.apply",
  async () => {
    const scene = openRepositoryScene()
    await scene.work({ "a.txt": "two\n" })
    await scene.work({ "a.txt": "three\n" }, { space: "s1" })
    await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
    const before = scene.checkout()
    await expect(scene.call("run.apply", { run_ids: ["r2"], space: "s1" })).rejects.toMatchObject({
      code: "APPLY_CONFLICT",
      message: "Run r2 conflicts with run r1 in a.txt; nothing was changed.",
    })
    expect(scene.checkout()).toBe(before)
    // It can be repaired in place, and then it applies.
    const path = (await scene.call("run.worktree", { run_id: "r2", space: "s1" })).text
    scene.gitIn(path, "checkout", "--quiet", "--", "a.txt")
    writeFileSync(join(path, "c.txt"), "c\n")
    await scene.call("run.apply", { run_ids: ["r2"], space: "s1" })
    expect([scene.read("a.txt"), scene.read("c.txt")]).toEqual(["two\n", "c\n"])
    expect(await codeOf(scene.call("run.apply", { run_ids: ["r1"], space: "s1" }))).toBe(
      "RUN_ALREADY_APPLIED",
    )
  },
  "a conflict names run and files, and changes nothing",
)

verifies(
  "run.apply",
  async () => {
    const scene = openRepositoryScene()
    await scene.work({ "a.txt": "two\n", "b.txt": "b\n" })
    const head = scene.git("rev-parse", "HEAD")
    const { text } = await scene.call("run.apply", { run_ids: ["r1"], space: "s1", no_commit: true })
    expect(text).toBe("r1: 2 files staged")
    expect(scene.git("rev-parse", "HEAD")).toBe(head)
    expect(scene.git("status", "--porcelain")).toBe("M  a.txt\nA  b.txt")
    // Nothing else has its commits, so the worktree stays until it is discarded.
    expect(scene.git("branch", "--list", "meridian/s1-r1", "--format=%(refname:short)")).toBe(
      "meridian/s1-r1",
    )
    await scene.call("run.discard", { run_ids: ["r1"], space: "s1" })
    expect(scene.git("status", "--porcelain")).toBe("M  a.txt\nA  b.txt")
  },
  "--no-commit leaves it staged",
)

test.each([
  ["a changed file", (project: string) => writeFileSync(join(project, "a.txt"), "mine\n"), "a.txt"],
  ["a file git does not know", (project: string) => writeFileSync(join(project, "b.txt"), "mine\n"), "b.txt"],
  [
    "an ignored file, which git would overwrite",
    (project: string) => writeFileSync(join(project, "x.log"), "mine\n"),
    "x.log",
  ],
  [
    "the same change, not committed",
    (project: string) => writeFileSync(join(project, "a.txt"), "two\n"),
    "a.txt",
  ],
  ["a deleted file", (project: string) => rmSync(join(project, "a.txt")), "a.txt"],
])("%s in the way is named, and nothing is lost", async (_what, change, named) => {
  const scene = openRepositoryScene({ "a.txt": "one\n", ".gitignore": "*.log\n" })
  await scene.work({ "a.txt": "two\n", "b.txt": "b\n", "x.log": "log\n" }, {}, {}, "git add -f x.log")
  change(scene.project)
  const before = scene.checkout()
  await expect(scene.call("run.apply", { run_ids: ["r1"], space: "s1" })).rejects.toMatchObject({
    code: "CHECKOUT_IN_THE_WAY",
    facts: { files: named },
  })
  expect(scene.checkout()).toBe(before)
})

test("changes elsewhere, staged or not, stay as they are", async () => {
  const scene = openRepositoryScene({ "a.txt": "one\n", "mine.txt": "one\n", "staged.txt": "one\n" })
  await scene.work({ "a.txt": "two\n" })
  scene.write({ "mine.txt": "changed\n", "staged.txt": "staged\n", "new.txt": "new\n" })
  scene.git("add", "staged.txt")
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(scene.git("status", "--porcelain")).toBe(" M mine.txt\nM  staged.txt\n?? new.txt")
  expect(scene.git("show", "--format=", "--name-only", "HEAD")).toBe("a.txt")
})

test.each([
  ["a merge", "REPOSITORY_BUSY", (project: string) => writeFileSync(join(project, ".git/MERGE_HEAD"), "")],
  ["a rebase", "REPOSITORY_BUSY", (project: string) => mkdirSync(join(project, ".git/rebase-merge"))],
  [
    "another git",
    "CHECKOUT_LOCKED",
    (project: string) => writeFileSync(join(project, ".git/index.lock"), "theirs"),
  ],
])("%s under way in the checkout is left alone", async (_what, code, begin) => {
  const scene = openRepositoryScene()
  await scene.work({ "b.txt": "b\n" })
  begin(scene.project)
  const before = scene.checkout()
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r1"], space: "s1" }))).toBe(code)
  expect(scene.checkout()).toBe(before)
})

test("a working run cannot be applied or thrown away, nor one without a worktree", async () => {
  const scene = openRepositoryScene()
  const harness = scene.harness("claude", { hang: "within" })
  await scene.call("run.spawn", { prompt: "p", harness: "claude", worktree: true, background: true })
  await until(() => harness.calls().length > 0)
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r1"], space: "s1" }))).toBe("RUN_ALIVE")
  expect(await codeOf(scene.call("run.discard", { run_ids: ["r1"], space: "s1" }))).toBe("RUN_ALIVE")
  await scene.call("run.cancel", { run_id: "r1", space: "s1" })
  scene.harness("claude", {})
  await scene.call("run.spawn", { prompt: "p", harness: "claude", space: "s1" })
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r2"], space: "s1" }))).toBe("RUN_WITHOUT_WORKTREE")
  expect(await codeOf(scene.call("run.diff", { run_id: "r2", space: "s1" }))).toBe("RUN_WITHOUT_DIFF")
  const nothing = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(nothing.text).toBe("r1: nothing that is not there already")
})

test("a read-only agent cannot apply", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "b.txt": "b\n" })
  const env = { MERIDIAN_SPACE_ID: "s1", MERIDIAN_TIER: "read-only" }
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r1"] }, { env }))).toBe("TIER_ABOVE_PARENT")
})

verifies("run.apply-all", async () => {
  const scene = openRepositoryScene({ "a.txt": "one\n", "b.txt": "one\n" })
  // The first conflicts with both others, which do not conflict with each other.
  await scene.work({ "a.txt": "first\n", "b.txt": "first\n" })
  await scene.work({ "a.txt": "second\n" }, { space: "s1" })
  await scene.work({ "b.txt": "third\n" }, { space: "s1" })
  await scene.work({ "c.txt": "fourth\n" }, { space: "s1" })
  const { document, notes, exitCode } = await scene.call("run.apply", { all: true, space: "s1" })
  expect(document["applied"]).toMatchObject([{ run_id: "r4" }, { run_id: "r2" }, { run_id: "r3" }])
  expect(document["left"]).toMatchObject([{ run_id: "r1", code: "APPLY_CONFLICT" }])
  expect(notes).toContain("Run r1 conflicts with run r2 and run r3 in a.txt, b.txt; nothing was changed.")
  expect(exitCode).toBe(1)
  expect([scene.read("a.txt"), scene.read("b.txt"), scene.read("c.txt")]).toEqual([
    "second\n",
    "third\n",
    "fourth\n",
  ])
  expect(scene.git("status", "--porcelain")).toBe("")
})

test("of several named runs, those after a conflict are not tried", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "a.txt": "first\n" })
  await scene.work({ "a.txt": "second\n" }, { space: "s1" })
  await scene.work({ "c.txt": "third\n" }, { space: "s1" })
  const { document } = await scene.call("run.apply", { run_ids: ["r1", "r2", "r3"], space: "s1" })
  expect(document).toMatchObject({ applied: [{ run_id: "r1" }], left: [{ run_id: "r2" }] })
  expect(scene.read("c.txt")).toBeUndefined()
})

verifies("run.discard", async () => {
  const scene = openRepositoryScene()
  const before = scene.checkout()
  await scene.work({ "b.txt": "b\n" }, {}, {}, "git add -A && git commit -qm kept && echo more > c.txt")
  const { document } = await scene.call("run.discard", { run_ids: ["r1"], space: "s1" })
  expect(document).toMatchObject({
    discarded: [{ run_id: "r1", kept: "refs/meridian/discarded/s1-r1", files: 2 }],
  })
  expect(scene.checkout()).toBe(before)
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1)
  expect(scene.git("branch", "--list", "meridian/*")).toBe("")
  expect(scene.git("show", "refs/meridian/discarded/s1-r1:c.txt")).toBe("more")
  expect(scene.git("log", "-1", "--format=%s", "refs/meridian/discarded/s1-r1~1")).toBe("kept")
  const diff = await scene.call("run.diff", { run_id: "r1", space: "s1" })
  expect(diff.document).toMatchObject({ files: [{ path: "b.txt" }, { path: "c.txt" }] })
  expect(await codeOf(scene.call("run.discard", { run_ids: ["r1"], space: "s1" }))).toBe(
    "RUN_ALREADY_APPLIED",
  )
})

verifies("run.diff", async () => {
  const scene = openRepositoryScene({ "a.txt": "1\n2\n3\n", "old name": "same\nsame\nsame\nsame\n" })
  const does = "git mv 'old name' 'new name' && git add -A && git commit -qm work"
  await scene.work({ "a.txt": "1\ntwo\n3\n", bin: "\0\x01" }, {}, {}, does)
  const shown = async (extra = {}) =>
    (await scene.call("run.diff", { run_id: "r1", space: "s1", ...extra }, { json: false })).text
  const plain = (...words: readonly string[]): string => scene.git("diff", ...words, "main...meridian/s1-r1")
  expect(await shown()).toBe(plain())
  expect(await shown({ stat: true })).toBe(plain("--stat"))
  expect(await shown({ name_only: true })).toBe(plain("--name-only"))
  // The branch continues, and so does the run, by hand.
  scene.commit({ "mine.txt": "mine\n" })
  expect(await shown()).toBe(plain())
  const path = (await scene.call("run.worktree", { run_id: "r1", space: "s1" })).text
  writeFileSync(join(path, "a\nb"), "odd  \n")
  const { document } = await scene.call("run.diff", { run_id: "r1", space: "s1" })
  expect(document["files"]).toMatchObject([
    { path: "a\nb", change: "added", hunks: [{ lines: ["+odd  "] }] },
    { path: "a.txt", change: "modified", hunks: [{ old_start: 1, lines: [" 1", "-2", "+two", " 3"] }] },
    { path: "bin", change: "added", binary: true, hunks: [] },
    { path: "new name", old_path: "old name", change: "renamed", additions: 0 },
  ])
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  const after = await scene.call("run.diff", { run_id: "r1", space: "s1" })
  expect(after.document["files"]).toEqual(document["files"])
})

test("odd files in a worktree are taken over, left out by name, or refused in words", async () => {
  const scene = openRepositoryScene({ "a.txt": "one\n", tool: "#!/bin/sh\n" })
  await scene.work({ "line\nbreak": "x\n", "-dash": "x\n", ünï: "x\n", 'q"uote': "x\n" })
  const path = (await scene.call("run.worktree", { run_id: "r1", space: "s1" })).text
  symlinkSync("/etc/passwd", join(path, "link"))
  chmodSync(join(path, "tool"), 0o755)
  mkdirSync(join(path, "nested"))
  scene.gitIn(join(path, "nested"), "init", "--quiet")
  writeFileSync(join(path, "huge"), "")
  truncateSync(join(path, "huge"), 5_000_000_000)
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r1"], space: "s1" }))).toBe("WORKTREE_TOO_LARGE")
  rmSync(join(path, "huge"))
  const { notes } = await scene.call("run.diff", { run_id: "r1", space: "s1" })
  expect(notes).toBe("nested is a separate repository and not part of this.")
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  for (const name of ["line\nbreak", "-dash", "ünï", 'q"uote']) expect(scene.read(name)).toBe("x\n")
  expect(scene.git("ls-tree", "HEAD", "link", "tool")).toMatch(/^120000 .*\n100755 /)
})

test("programs the repository names do not start, and those the user trusts do", async () => {
  const scene = openRepositoryScene({
    ".gitattributes": "*.x filter=evil diff=evil merge=evil\n",
    "f.x": "1\n2\n3\n",
  })
  const log = join(scene.env["HOME"] ?? "", "started")
  const evil = (name: string): string => `echo ${name} >> '${log}'; cat`
  scene.git("config", "filter.evil.smudge", evil("smudge"))
  scene.git("config", "filter.evil.clean", evil("clean"))
  scene.git("config", "diff.evil.textconv", evil("textconv"))
  scene.git("config", "merge.evil.driver", `${evil("merge")} %A`)
  scene.git("config", "core.fsmonitor", evil("fsmonitor"))
  for (const hook of ["post-checkout", "pre-commit", "reference-transaction", "post-index-change"]) {
    writeFileSync(join(scene.project, ".git/hooks", hook), `#!/bin/sh\necho ${hook} >> '${log}'\nexit 1\n`)
    chmodSync(join(scene.project, ".git/hooks", hook), 0o755)
  }
  const run = await scene.work({ "f.x": "one\n2\n3\n" })
  expect(run.warnings.join()).toContain("WARNING [GIT_PROGRAMS_OFF]")
  rmSync(log, { force: true })
  await scene.call("run.diff", { run_id: "r1", space: "s1" })
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(existsSync(log)).toBe(false)
  expect(scene.read("f.x")).toBe("one\n2\n3\n")
  await scene.call("trust", {})
  const trusted = await scene.work({ "f.x": "two\n2\n3\n" }, { space: "s1" })
  expect(trusted.warnings.join()).not.toContain("GIT_PROGRAMS_OFF")
  await scene.call("run.apply", { run_ids: ["r2"], space: "s1" })
  const started = new Set(readFileSync(log, "utf8").split("\n"))
  expect([started.has("smudge"), started.has("clean")]).toEqual([true, true])
  expect([...started].filter((name) => name.includes("-"))).toEqual([])
})
