import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openRepositoryScene, type RepositoryScene } from "../../scene/repository.ts"
import { codeOf, until, type Document } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

const worktreeOf = async (scene: RepositoryScene, run: string): Promise<string> =>
  (await scene.call("run.worktree", { run_id: run, space: "s1" })).text

verifies("worktree.own-place", async () => {
  const scene = openRepositoryScene()
  const before = scene.checkout()
  const { document } = await scene.work({ "a.txt": "two\n", "new/b.txt": "b\n" })
  expect(document).toMatchObject({
    status: "succeeded",
    worktree: { branch: "meridian/s1-r1", state: "open" },
  })
  const path = await worktreeOf(scene, "r1")
  expect(path).toContain(join(scene.env["HOME"] ?? "", ".local/state/meridian/worktrees/project-"))
  expect(path.endsWith("/s1-r1")).toBe(true)
  expect(readFileSync(join(path, "new/b.txt"), "utf8")).toBe("b\n")
  expect(scene.gitIn(path, "branch", "--show-current")).toBe("meridian/s1-r1")
  expect(scene.checkout()).toBe(before)
})

verifies("worktree.recorded-first", async () => {
  const scene = openRepositoryScene()
  const head = scene.git("rev-parse", "HEAD")
  // The branch exists, so git refuses to make the worktree. The start record exists anyway.
  scene.git("branch", "meridian/s1-r1")
  expect(await codeOf(scene.work({}))).toBe("WORKTREE_TAKEN")
  const [start, ...rest] = scene.events("s1/runs.jsonl")
  expect(start).toMatchObject({
    event: "start",
    worktree: { branch: "meridian/s1-r1", base: head, checkout: scene.project },
  })
  expect(rest.at(-1)).toMatchObject({ event: "finalize", status: "failed", exit_code: 2 })
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1)
  // It does not block the next run.
  expect((await scene.work({}, { space: "s1" })).document).toMatchObject({ status: "succeeded" })
})

verifies("worktree.auto", async () => {
  const scene = openRepositoryScene()
  const release = join(scene.env["HOME"] ?? "", "go-on")
  const values = { prompt: "p", harness: "claude", permission: "workspace-write", space: "s1" }
  const holding = scene.harness("claude", { release })
  const first = await scene.call("run.spawn", { ...values, space: undefined, background: true })
  expect(first.document).not.toHaveProperty("worktree")
  await until(() => holding.calls().length > 0)
  scene.harness("claude", { answer: "done" })
  const auto = await scene.call("run.spawn", values, { env: { MERIDIAN_RUN_WORKTREE: "auto" } })
  expect(auto.document).toMatchObject({ worktree: { branch: "meridian/s1-r2" } })
  expect(auto.warnings.join()).not.toContain("CHECKOUT_SHARED")
  const never = await scene.call("run.spawn", values)
  expect(never.document).not.toHaveProperty("worktree")
  expect(never.warnings.join()).toContain("WARNING [CHECKOUT_SHARED]: s1 r1 also writes into")
  expect((await scene.call("run.show", { run_id: "r3", space: "s1" })).text).toContain("Beside: s1 r1")
  // A run that only reads blocks no other.
  const reading = await scene.call(
    "run.spawn",
    { ...values, permission: "read-only" },
    { env: { MERIDIAN_RUN_WORKTREE: "auto" } },
  )
  expect(reading.document).not.toHaveProperty("worktree")
  expect(reading.warnings.join()).not.toContain("CHECKOUT_SHARED")
  writeFileSync(release, "")
  await until(() =>
    scene.events("s1/runs.jsonl").some(({ event, id }) => event === "finalize" && id === "r1"),
  )
  // No other run is there any more.
  const alone = await scene.call("run.spawn", values, { env: { MERIDIAN_RUN_WORKTREE: "auto" } })
  expect(alone.document).not.toHaveProperty("worktree")
})

verifies(
  "worktree.layouts",
  async () => {
    const scene = openRepositoryScene({ "packages/app/a.txt": "one\n" })
    const cwd = join(scene.project, "packages/app")
    const { document } = await scene.work({ "b.txt": "b\n" }, { cwd })
    expect(document["cwd"]).toBe(join(await worktreeOf(scene, "r1"), "packages/app"))
    await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
    expect(scene.read("packages/app/b.txt")).toBe("b\n")
    // A folder without a commit would be missing.
    mkdirSync(join(scene.project, "fresh"))
    expect(await codeOf(scene.work({}, { cwd: join(scene.project, "fresh"), space: "s1" }))).toBe(
      "WORKTREE_FOLDER_ABSENT",
    )
  },
  "a sub-folder",
)

verifies(
  "worktree.layouts",
  async () => {
    const scene = openRepositoryScene()
    const linked = join(scene.env["HOME"] ?? "", "linked")
    scene.git("worktree", "add", "--quiet", "-b", "side", linked)
    const env = { MERIDIAN_REPO_ROOT: linked }
    await scene.work({ "b.txt": "b\n" }, {}, { env, cwd: linked })
    const done = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" }, { env, cwd: linked })
    expect(done.document).toMatchObject({ applied: [{ run_id: "r1", branch: "side" }] })
    expect(readFileSync(join(linked, "b.txt"), "utf8")).toBe("b\n")
    expect(scene.read("b.txt")).toBeUndefined()
    expect(scene.gitIn(linked, "status", "--porcelain", "--", ":!.meridian")).toBe("")
  },
  "a linked worktree",
)

verifies(
  "worktree.layouts",
  async () => {
    const scene = openRepositoryScene()
    scene.git("checkout", "--quiet", "--detach")
    await scene.work({ "b.txt": "b\n" })
    const { text } = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
    expect(text).toContain("on a detached HEAD")
    expect(scene.read("b.txt")).toBe("b\n")
    expect(scene.git("rev-parse", "HEAD~1")).toBe(scene.git("rev-parse", "main"))
  },
  "a detached head",
)

verifies(
  "worktree.layouts",
  async () => {
    const scene = openRepositoryScene()
    const home = scene.env["HOME"] ?? ""
    const inner = join(home, "inner")
    mkdirSync(inner)
    scene.gitIn(inner, "init", "--quiet", "--initial-branch=main")
    writeFileSync(join(inner, "i.txt"), "i\n")
    scene.gitIn(inner, "add", "--all")
    scene.gitIn(inner, "-c", "user.name=a", "-c", "user.email=a@a", "commit", "--quiet", "-m", "inner")
    scene.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
    scene.commit({}, "with a submodule")
    const outer = await scene.work({ "b.txt": "b\n" })
    expect(outer.warnings.join()).toContain("WORKTREE_SUBMODULES")
    const sub = join(scene.project, "sub")
    const env = { MERIDIAN_REPO_ROOT: sub }
    scene.gitIn(sub, "config", "user.email", "sub@example.org")
    await scene.work({ "j.txt": "j\n" }, {}, { env, cwd: sub })
    await scene.call("run.apply", { run_ids: ["r1"], space: "s1" }, { env, cwd: sub })
    expect(readFileSync(join(sub, "j.txt"), "utf8")).toBe("j\n")
    expect(scene.gitIn(sub, "log", "-1", "--format=%s")).toBe("do it")
  },
  "a submodule, and a repository that has some",
)

verifies(
  "worktree.layouts",
  async () => {
    const scene = openRepositoryScene()
    const root = join(scene.env["HOME"] ?? "", "bare")
    mkdirSync(root)
    scene.git("clone", "--quiet", "--bare", scene.project, join(root, ".bare"))
    writeFileSync(join(root, ".git"), "gitdir: ./.bare\n")
    scene.gitIn(root, "worktree", "add", "--quiet", "main", "main")
    const env = { MERIDIAN_REPO_ROOT: root }
    await scene.work({ "b.txt": "b\n" }, {}, { env, cwd: root })
    const done = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" }, { env, cwd: root })
    expect(done.document).toMatchObject({ applied: [{ branch: "main" }] })
    // No author is configured.
    expect(scene.gitIn(join(root, "main"), "log", "-1", "--format=%an <%ae>")).toBe(
      "Meridian <meridian@localhost>",
    )
    expect(readFileSync(join(root, "main/b.txt"), "utf8")).toBe("b\n")
    expect(scene.gitIn(join(root, "main"), "status", "--porcelain")).toBe("")
  },
  "a bare repository with its checkouts beside it",
)

test.each([
  [
    "REPOSITORY_NOT_FOUND",
    (scene: RepositoryScene) => rmSync(join(scene.project, ".git"), { recursive: true }),
  ],
  [
    "REPOSITORY_EMPTY",
    (scene: RepositoryScene) => {
      rmSync(join(scene.project, ".git"), { recursive: true })
      scene.git("init", "--quiet")
    },
  ],
  [
    "REPOSITORY_BUSY",
    (scene: RepositoryScene) => {
      scene.git("checkout", "--quiet", "-b", "side")
      scene.commit({ "a.txt": "side\n" })
      scene.git("checkout", "--quiet", "main")
      scene.commit({ "a.txt": "main\n" })
      expect(() => scene.git("merge", "side")).toThrow("Command failed")
    },
  ],
])("%s is said before anything is begun", async (code, break_) => {
  const scene = openRepositoryScene()
  break_(scene)
  const before = scene.checkout()
  expect(await codeOf(scene.work({}))).toBe(code)
  expect(scene.checkout()).toBe(before)
  expect(existsSync(scene.state("s1"))).toBe(false)
})

verifies("worktree.refusals", async () => {
  const scene = openRepositoryScene()
  const { path } = worktreeIn(await scene.work({}))
  await scene.call("run.discard", { run_ids: ["r1"], space: "s1" })
  mkdirSync(path.replace("s1-r1", "s1-r2"))
  writeFileSync(path.replace("s1-r1", "s1-r2/mine"), "")
  const before = scene.checkout()
  await expect(scene.work({}, { space: "s1" })).rejects.toMatchObject({ code: "WORKTREE_TAKEN" })
  scene.git("branch", "meridian/s1-r3")
  await expect(scene.work({}, { space: "s1" })).rejects.toMatchObject({
    code: "WORKTREE_TAKEN",
    next: expect.stringContaining("git branch -m meridian/s1-r3 NAME"),
  })
  scene.git("branch", "-D", "--quiet", "meridian/s1-r3")
  scene.git("branch", "meridian")
  await expect(scene.work({}, { space: "s1" })).rejects.toMatchObject({ code: "WORKTREE_TAKEN" })
  scene.git("branch", "-D", "--quiet", "meridian")
  expect(scene.checkout()).toBe(before)
  expect(existsSync(path.replace("s1-r1", "s1-r2/mine"))).toBe(true)
})

const worktreeIn = ({ document }: { readonly document: Document }) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every run of these tests has one
  document["worktree"] as { readonly path: string; readonly base: string }

verifies("worktree.changes", async () => {
  const scene = openRepositoryScene({ "a.txt": "one\n", "c.txt": "c\n", "gone.txt": "g\n" })
  scene.write({ "a.txt": "mine\n", "fresh.txt": "fresh\n" })
  rmSync(join(scene.project, "gone.txt"))
  scene.git("add", "fresh.txt")
  const before = scene.checkout()
  await scene.work({ "b.txt": "b\n" })
  const plain = await worktreeOf(scene, "r1")
  expect(readFileSync(join(plain, "a.txt"), "utf8")).toBe("one\n")
  await scene.work({ "b.txt": "b\n", "c.txt": "C\n" }, { space: "s1", with_changes: true })
  expect(scene.checkout()).toBe(before)
  const along = await worktreeOf(scene, "r2")
  expect(readFileSync(join(along, "a.txt"), "utf8")).toBe("mine\n")
  expect(readFileSync(join(along, "fresh.txt"), "utf8")).toBe("fresh\n")
  expect(existsSync(join(along, "gone.txt"))).toBe(false)
  expect(scene.gitIn(along, "rev-parse", "HEAD")).toBe(scene.git("rev-parse", "HEAD"))
  // The user's changes are not part of the run's work, and stay uncommitted where they are.
  const { document } = await scene.call("run.diff", { run_id: "r2", space: "s1" })
  expect(document).toMatchObject({ files: [{ path: "b.txt" }, { path: "c.txt" }] })
  await scene.call("run.apply", { run_ids: ["r2"], space: "s1" })
  expect(scene.git("show", "--name-only", "--format=", "HEAD")).toBe("b.txt\nc.txt")
  expect(scene.read("a.txt")).toBe("mine\n")
  expect(scene.git("status", "--porcelain")).toBe(" M a.txt\nA  fresh.txt\n D gone.txt")
})

verifies("worktree.include", async () => {
  const scene = openRepositoryScene({
    ".gitignore": ".env\nsecrets/\nlog/\n",
    ".worktreeinclude": "# for tests\n.env\nsecrets/*.key\na.txt\n",
    "a.txt": "one\n",
  })
  scene.write({ ".env": "X=1\n", "secrets/a.key": "k\n", "secrets/b.txt": "b\n", "log/x": "x\n" })
  symlinkSync("/etc/hostname", join(scene.project, "secrets/link.key"))
  const setup = 'printf "%s" "$API_TOKEN$PWD" > setup.txt; echo said; cat .env'
  const env = { MERIDIAN_WORKTREE_SETUP: setup, API_TOKEN: "secret" }
  await scene.work({}, {}, { env })
  const path = await worktreeOf(scene, "r1")
  expect(readFileSync(join(path, ".env"), "utf8")).toBe("X=1\n")
  expect(readFileSync(join(path, "secrets/a.key"), "utf8")).toBe("k\n")
  expect(existsSync(join(path, "secrets/b.txt"))).toBe(false)
  expect(existsSync(join(path, "log"))).toBe(false)
  expect(readFileSync(join(path, "setup.txt"), "utf8")).toBe(path)
  expect(readFileSync(scene.state("s1/runs/r1/setup.log"), "utf8")).toBe("said\nX=1\n")
})

verifies(
  "worktree.include",
  async () => {
    const scene = openRepositoryScene()
    scene.write({ ".meridian/config.toml": '[worktree]\nsetup = "touch pwned"\n' })
    await scene.call("trust", {})
    const run = await scene.work({})
    expect(run.warnings.join()).toContain("WARNING [CONFIG_OWN_ONLY]")
    expect(existsSync(join(await worktreeOf(scene, "r1"), "pwned"))).toBe(false)
    const failing = scene.work({}, { space: "s1" }, { env: { MERIDIAN_WORKTREE_SETUP: "echo why; exit 3" } })
    await expect(failing).rejects.toMatchObject({ code: "WORKTREE_SETUP_FAILED" })
    expect(readFileSync(scene.state("s1/runs/r2/setup.log"), "utf8")).toBe("why\n")
    expect(scene.git("worktree", "list").split("\n")).toHaveLength(2)
    expect(scene.git("branch", "--list", "meridian/s1-r2")).toBe("")
  },
  "setup is the user's own, and one that fails leaves nothing",
)

verifies("run.worktree-path", async () => {
  const scene = openRepositoryScene()
  const run = await scene.work({})
  expect(await worktreeOf(scene, "r1")).toBe(worktreeIn(run).path)
  await scene.call("run.discard", { run_ids: ["r1"], space: "s1" })
  expect(await codeOf(worktreeOf(scene, "r1"))).toBe("WORKTREE_GONE")
  scene.harness("claude", {})
  await scene.call("run.spawn", { prompt: "p", harness: "claude", space: "s1" })
  expect(await codeOf(worktreeOf(scene, "r2"))).toBe("RUN_WITHOUT_WORKTREE")
})

test("a continuation continues in the worktree, and either run represents the work", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "b.txt": "b\n" })
  scene.harness("claude", { writes: { "c.txt": "c\n" } })
  const second = await scene.call("run.continue", {
    run_id: "r1",
    space: "s1",
    prompt: "more",
    permission: "workspace-write",
  })
  expect(second.document).toMatchObject({ run_id: "r2", worktree: { branch: "meridian/s1-r1" } })
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect([scene.read("b.txt"), scene.read("c.txt")]).toEqual(["b\n", "c\n"])
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r2"], space: "s1" }))).toBe("RUN_ALREADY_APPLIED")
  expect(await codeOf(scene.call("run.continue", { run_id: "r2", space: "s1", prompt: "again" }))).toBe(
    "WORKTREE_GONE",
  )
})

test("a run spawned from a worktree works beside its parent, not in the checkout", async () => {
  const scene = openRepositoryScene()
  await scene.work({})
  const env = { MERIDIAN_SPACE_ID: "s1", MERIDIAN_PARENT_RUN_ID: "r1", MERIDIAN_TIER: "workspace-write" }
  scene.harness("claude", { writes: { "child.txt": "c\n" } })
  const child = await scene.call(
    "run.spawn",
    { prompt: "p", harness: "claude", permission: "workspace-write" },
    { env },
  )
  expect(child.document["cwd"]).toBe(await worktreeOf(scene, "r1"))
  expect(scene.read("child.txt")).toBeUndefined()
  // It cannot reach outside.
  await scene.work({ "other.txt": "o\n" }, { space: "s1" })
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r3"], space: "s1" }, { env }))).toBe(
    "APPLY_ELSEWHERE",
  )
})
