import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openRepositoryScene, type RepositoryScene } from "../../scene/repository.ts"
import { codeOf, until, type Document } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

const CHECK = 'grep -q right a.txt || { echo "a.txt is not right"; exit 3; }'

const checksOf = async (scene: RepositoryScene, run: string): Promise<readonly Document[]> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the operation's own shape
  (await scene.call("run.show", { run_id: run, space: "s1" })).document["checks"] as readonly Document[]

verifies("checks.verified", async () => {
  const scene = openRepositoryScene()
  const run = await scene.work({ "a.txt": "right\n" }, { check: [CHECK, "echo said; echo why >&2"] })
  expect(run.document).toMatchObject({ status: "succeeded", exit_code: 0, verdict: "verified" })
  expect(run.exitCode).toBe(0)
  expect(await checksOf(scene, "r1")).toMatchObject([
    { command: CHECK, place: "run", attempt: 1, ended: "ended", exit_code: 0, green: true, output: "" },
    { command: "echo said; echo why >&2", exit_code: 0, green: true, output: "said\nwhy\n" },
  ])
  const [, second] = await checksOf(scene, "r1")
  expect(readFileSync(String(second?.["log_path"]), "utf8")).toBe("said\nwhy\n")
  expect(second?.["duration_secs"]).toEqual(expect.any(Number))
  const events = scene.events("s1/runs.jsonl")
  expect(events.filter(({ event }) => event === "check")).toHaveLength(2)
  const shown = await scene.call("run.show", { run_id: "r1", space: "s1" })
  expect(shown.text).toContain("Verdict: verified\n")
})

verifies("checks.unverified", async () => {
  const scene = openRepositoryScene()
  const run = await scene.work({ "a.txt": "right\n" })
  expect(run.document).toMatchObject({ status: "succeeded", exit_code: 0, verdict: "unverified" })
  const shown = await scene.call("run.show", { run_id: "r1", space: "s1" })
  expect(shown.text).toContain("Verdict: unverified (no check was given)\n")
})

verifies("checks.rounds", async () => {
  const scene = openRepositoryScene()
  const does = "if [ -e tried ]; then echo right > a.txt; else touch tried; fi"
  const harness = scene.harness("claude", {})
  const run = await scene.work({}, { check: CHECK }, {}, does)
  expect(run.document).toMatchObject({ status: "succeeded", verdict: "verified", exit_code: 0 })
  const [first, second, ...more] = harness.calls()
  expect(more).toEqual([])
  expect(first?.stdin).not.toContain("checks")
  expect(second?.stdin).toContain(`${CHECK}: exit code 3\n\`\`\`\na.txt is not right\n\`\`\``)
  expect((await checksOf(scene, "r1")).map(({ attempt, exit_code: code }) => [attempt, code])).toEqual([
    [1, 3],
    [2, 0],
  ])
})

verifies("checks.refuted", async () => {
  const scene = openRepositoryScene()
  const harness = scene.harness("claude", {})
  const run = await scene.work({ "a.txt": "wrong\n" }, { check: CHECK, check_rounds: 2 })
  expect(run.document).toMatchObject({
    status: "failed",
    verdict: "refuted",
    failure_reason: "refuted",
    message: `${CHECK}: exit code 3`,
    exit_code: 1,
  })
  expect(run.exitCode).toBe(1)
  // The agent was told twice, so there are three attempts.
  expect(harness.calls()).toHaveLength(3)
  const before = scene.checkout()
  expect(await codeOf(scene.call("run.apply", { run_ids: ["r1"], space: "s1" }))).toBe("RUN_REFUTED")
  expect(scene.checkout()).toBe(before)
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1", force: true })
  expect(scene.read("a.txt")).toBe("wrong\n")
})

verifies(
  "checks.refuted",
  async () => {
    const scene = openRepositoryScene()
    const hangs = await scene.work(
      {},
      { check: "echo begun; sleep 1000 & setsid sleep 1000 & wait", check_timeout: 0.5, check_rounds: 0 },
    )
    expect(hangs.document).toMatchObject({
      verdict: "refuted",
      message: expect.stringContaining("its time limit"),
    })
    const [check] = await checksOf(scene, "r1")
    expect(check).toMatchObject({ ended: "timeout", output: "begun\n", green: false })
    expect(check).not.toHaveProperty("exit_code")
  },
  "a check that hangs and forks is ended with everything it started",
)

test("the output of a check is kept up to a bound, and the agent gets its end", async () => {
  const scene = openRepositoryScene()
  const harness = scene.harness("claude", {})
  const loud = "yes 0123456789 | head -c 40000000; echo; echo the end; exit 1"
  await scene.work({}, { check: loud, check_rounds: 1 })
  const [, told] = harness.calls()
  expect(told?.stdin).toContain("[the end of its output]")
  expect(told?.stdin).toContain("the end\n")
  expect(told?.stdin?.length).toBeLessThan(100_000)
  const [check] = await checksOf(scene, "r1")
  expect(readFileSync(String(check?.["log_path"])).length).toBeLessThan(17_000_000)
  expect(String(check?.["output"]).length).toBeLessThanOrEqual(8_192)
})

test.each([
  ["deletes the worktree", 'rm -rf "$PWD"'],
  ["deletes itself and everything beside it", "rm -rf ./* .git; exit 0"],
  ["changes what it checks", "echo other > a.txt; echo more > litter.txt; git add -A; exit 0"],
])("a check that %s leaves the work as it was", async (_what, command) => {
  const scene = openRepositoryScene()
  await scene.work(
    { "a.txt": "right\n", "check.sh": "exit 0\n" },
    { check: [command, CHECK], check_rounds: 0 },
  )
  const { document } = await scene.call("run.diff", { run_id: "r1", space: "s1" })
  expect(document["files"]).toMatchObject([
    { path: "a.txt", hunks: [{ lines: ["-one", "+right"] }] },
    { path: "check.sh" },
  ])
  expect(await checksOf(scene, "r1")).toMatchObject([{}, { command: CHECK, green: true }])
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(scene.read("a.txt")).toBe("right\n")
  expect(scene.git("status", "--porcelain")).toBe("")
  expect(scene.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main")
})

verifies("checks.as-applied", async () => {
  const scene = openRepositoryScene({ "a.txt": "one\n", "uses.txt": "one\n" })
  // Every use must have the name in a.txt.
  const check = 'for f in uses*.txt; do cmp "$f" a.txt || { echo "$f is stale"; exit 1; }; done'
  await scene.work({ "a.txt": "two\n", "uses.txt": "two\n" }, { check })
  scene.commit({ "uses-2.txt": "one\n" })
  const path = (await scene.call("run.worktree", { run_id: "r1", space: "s1" })).text
  writeFileSync(join(path, ".git-ignored-by-nobody"), "mine\n")
  const [before, inside] = [scene.checkout(), scene.gitIn(path, "status", "--porcelain")]
  await expect(scene.call("run.apply", { run_ids: ["r1"], space: "s1" })).rejects.toMatchObject({
    code: "CHECKS_RED",
    facts: { run: "r1", what: `${check}: exit code 1` },
  })
  expect(scene.checkout()).toBe(before)
  expect(scene.gitIn(path, "status", "--porcelain")).toBe(inside)
  expect(existsSync(join(path, "uses-2.txt"))).toBe(false)
  expect((await checksOf(scene, "r1")).at(-1)).toMatchObject({ place: "apply", exit_code: 1 })
  // This failure did not refute the run: with the branch repaired, it applies.
  scene.git("rm", "--quiet", "uses-2.txt")
  scene.git("commit", "--quiet", "-m", "gone")
  const { text, document } = await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(text).toContain(", 1 check green")
  expect(document).toMatchObject({ applied: [{ checks: 1 }] })
  expect(scene.read("uses.txt")).toBe("two\n")
})

verifies(
  "checks.as-applied",
  async () => {
    const scene = openRepositoryScene({ "a.txt": "one\n", ".gitignore": "modules/\n" })
    const check = "test -e modules/there && test -e merged.txt -o ! -e .applied"
    await scene.work(
      { "a.txt": "two\n", "modules/there": "", ".applied": "" },
      { check: "test -e modules/there" },
    )
    scene.commit({ "merged.txt": "m\n" })
    expect(check).toContain("modules")
    await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
    expect(scene.read("modules/there")).toBeUndefined()
  },
  "ignored files stay as they are in the worktree",
)

verifies("checks.changed-files", async () => {
  const scene = openRepositoryScene({
    "package.json": JSON.stringify({ scripts: { test: "sh ./run.sh test/a.test.txt", lint: "true" } }),
    "run.sh": "cmp test/a.test.txt a.txt\n",
    "test/a.test.txt": "right\n",
    "test/b.test.txt": "b\n",
    "a.txt": "one\n",
  })
  const honest = await scene.work({ "a.txt": "right\n", "test/new.test.txt": "n\n" }, { check: "npm test" })
  expect(honest.document).toMatchObject({ verdict: "verified" })
  expect(honest.document).not.toHaveProperty("changed_check_files")
  const eased = await scene.work(
    {
      "package.json": JSON.stringify({ scripts: { test: "sh ./run.sh", lint: "true" }, version: "2" }),
      "run.sh": "true\n",
      "test/a.test.txt": "wrong\n",
    },
    { check: "npm test", space: "s1" },
  )
  expect(eased.document).toMatchObject({
    verdict: "verified",
    changed_check_files: ["package.json", "run.sh", "test/a.test.txt"],
  })
  expect(eased.warnings.join()).toContain("WARNING [CHECK_FILES_CHANGED]: Run r2 is verified, but")
  const shown = await scene.call("run.show", { run_id: "r2", space: "s1" })
  expect(shown.text).toContain(
    "Verdict: verified, but the agent changed what the checks depend on: package.json, run.sh, test/a.test.txt",
  )
})

verifies("checks.configured", async () => {
  const scene = openRepositoryScene()
  const env = { MERIDIAN_RUN_CHECK: CHECK, MERIDIAN_CHECK_ROUNDS: "0" }
  expect((await scene.work({ "a.txt": "wrong\n" }, {}, { env })).document).toMatchObject({
    verdict: "refuted",
  })
  const flag = await scene.work({ "a.txt": "wrong\n" }, { check: "true", space: "s1" }, { env })
  expect(flag.document).toMatchObject({ verdict: "verified" })
  const none = await scene.work({ "a.txt": "wrong\n" }, { check: "", space: "s1" }, { env })
  expect(none.document).toMatchObject({ verdict: "unverified" })
  // A run that only reads has nothing to prove.
  scene.harness("claude", { answer: "looked" })
  const reads = await scene.call("run.spawn", { prompt: "p", harness: "claude", space: "s1" }, { env })
  expect(reads.document).toMatchObject({ verdict: "unverified" })
})

verifies(
  "checks.configured",
  async () => {
    const scene = openRepositoryScene()
    scene.write({
      ".meridian/config.toml": '[runs]\ncheck = ["touch ../pwned; false"]\n',
      ".meridian/agents/coder.md":
        "---\nname: coder\ncheck: [\"grep -q right, a.txt\", 'true']\n---\nYou code.\n",
    })
    const strange = await scene.work({ "a.txt": "wrong\n" })
    expect(strange.document).toMatchObject({ verdict: "unverified" })
    expect(strange.warnings.join()).toContain("FOLDER_UNTRUSTED")
    const agent = await scene.work({ "a.txt": "wrong\n" }, { agent: "coder", space: "s1" })
    expect(agent.document).toMatchObject({ verdict: "unverified" })
    expect(agent.warnings.join()).toContain("CHECKS_UNTRUSTED")
    const survey = await scene.call("trust", { dry_run: true })
    expect(JSON.stringify(survey.document)).toContain("checks")
    await scene.call("trust", { tier: "workspace-write" })
    const trusted = await scene.work(
      { "a.txt": "right, now\n" },
      { agent: "coder", space: "s1", check_rounds: 0 },
    )
    expect(trusted.document).toMatchObject({ verdict: "verified" })
    const plain = await scene.work({}, { space: "s1", check_rounds: 0 })
    expect(plain.document).toMatchObject({ verdict: "refuted" })
  },
  "a folder's checks count only if the user trusts it with them",
)

test("a continuation keeps the checks of its run, and its verdict counts for the work", async () => {
  const scene = openRepositoryScene()
  await scene.work({ "a.txt": "wrong\n" }, { check: CHECK, check_rounds: 0 })
  scene.harness("claude", { writes: { "a.txt": "right\n" } })
  const values = { run_id: "r1", space: "s1", prompt: "mend it", permission: "workspace-write" }
  const second = await scene.call("run.continue", values)
  expect(second.document).toMatchObject({ run_id: "r2", verdict: "verified" })
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(scene.read("a.txt")).toBe("right\n")
})

test("checks see no credentials, and are refused to a read-only run", async () => {
  const scene = openRepositoryScene()
  const check = 'test -z "$API_TOKEN" && test "$NPM_TOKEN" = n && test -n "$HOME"'
  scene.write({ "../.config/meridian/config.toml": '[tools]\nkeep_variables = ["NPM_TOKEN"]\n' })
  const env = { API_TOKEN: "secret", NPM_TOKEN: "n" }
  expect((await scene.work({}, { check, check_rounds: 0 }, { env })).document).toMatchObject({
    verdict: "verified",
  })
  const reader = { MERIDIAN_SPACE_ID: "s1", MERIDIAN_TIER: "read-only" }
  const spawned = scene.call("run.spawn", { prompt: "p", harness: "claude", check: "true" }, { env: reader })
  expect(await codeOf(spawned)).toBe("CHECKS_REFUSED")
})

test.each([
  ["CHECKS_TOO_MANY", { check: Array.from({ length: 21 }, (_, index) => `true ${index}`) }],
  ["USAGE", { check: "true", check_rounds: 21 }],
])("%s is said before anything is begun", async (code, values) => {
  const scene = openRepositoryScene()
  expect(await codeOf(scene.work({}, values))).toBe(code)
  expect(existsSync(scene.state("s1"))).toBe(false)
})

test("a run stopped during its checks is cancelled, and nothing of them is left", async () => {
  const scene = openRepositoryScene()
  scene.harness("claude", { writes: { "a.txt": "right\n" } })
  const mark = join(scene.env["HOME"] ?? "", "checking")
  const run = scene.start("run.spawn", {
    prompt: "p",
    harness: "claude",
    permission: "workspace-write",
    worktree: true,
    check: [`touch '${mark}'; sleep 1000`, "true"],
  })
  await until(() => existsSync(mark))
  run.child.kill("SIGINT")
  expect((await run.ended).code).toBe(130)
  const shown = await scene.call("run.show", { run_id: "r1", space: "s1" })
  expect(shown.document).toMatchObject({ status: "cancelled", checks: [{ ended: "stopped" }] })
  expect(shown.document).not.toHaveProperty("verdict")
  expect(readdirSync(scene.state("s1/runs/r1")).filter((name) => name.startsWith("check-"))).toEqual([
    "check-1.log",
  ])
})
