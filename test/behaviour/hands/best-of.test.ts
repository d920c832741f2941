import { existsSync } from "node:fs"

import { expect, test } from "vitest"

import { openRepositoryScene, type RepositoryScene } from "../../scene/repository.ts"
import { codeOf, type Document } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

/** The first one is right, the others are not. Each says which it is. */
const UNLIKE =
  'n=$(basename "$PWD" | tr -dc 0-9); case "$PWD" in *r1) echo right > a.txt;; *) echo wrong > a.txt; echo more > b.txt;; esac'

const spawn = (scene: RepositoryScene, values: Document = {}, does = UNLIKE) => {
  scene.harness("claude", { answer: "done", does })
  return scene.call("run.spawn", {
    prompt: "do it",
    harness: "claude",
    permission: "workspace-write",
    check: "grep -q right a.txt",
    check_rounds: 0,
    ...values,
  })
}

verifies("contest.spawn", async () => {
  const scene = openRepositoryScene()
  const before = scene.checkout()
  const run = await spawn(scene, { best_of: 3 })
  expect(run.exitCode).toBe(0)
  expect(run.document).toMatchObject({
    run_id: "r1",
    verdict: "verified",
    contest: [
      {
        run_id: "r1",
        status: "succeeded",
        verdict: "verified",
        files: 1,
        additions: 1,
        deletions: 1,
        best: true,
      },
      { run_id: "r2", status: "failed", verdict: "refuted", files: 2, additions: 2, deletions: 1 },
      { run_id: "r3", status: "failed", verdict: "refuted", files: 2, additions: 2, deletions: 1 },
    ],
  })
  expect(run.text).toMatch(/^RUN +STATUS +VERDICT +CHANGES +COST +TIME +MODEL\n/)
  expect(run.text).toContain("Take: meridian run apply r1 --discard-rest (throws r2, r3 away)")
  expect(scene.checkout()).toBe(before)
  const compared = await scene.call("run.compare", { space: "s1" })
  expect(compared.text).toBe(run.text)
  // One of them represents all; named ones are compared as named.
  expect((await scene.call("run.compare", { run_ids: ["r2"], space: "s1" })).text).toBe(run.text)
  const two = await scene.call("run.compare", { run_ids: ["r3", "r2"], space: "s1" })
  expect(two.document["runs"]).toMatchObject([{ run_id: "r3" }, { run_id: "r2" }])
})

verifies("contest.choose", async () => {
  const scene = openRepositoryScene()
  await spawn(scene, { best_of: 2 })
  const applied = await scene.call("run.apply", { run_ids: ["r1"], space: "s1", discard_rest: true })
  expect(applied.document).toMatchObject({ applied: [{ run_id: "r1" }], discarded: ["r2"], left: [] })
  expect(scene.read("a.txt")).toBe("right\n")
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1)
  expect(scene.git("show", "refs/meridian/discarded/s1-r2:b.txt")).toBe("more")
  const compared = await scene.call("run.compare", { space: "s1" })
  expect(compared.document["runs"]).toMatchObject([
    { worktree_state: "applied" },
    { worktree_state: "discarded" },
  ])
})

verifies("contest.models", async () => {
  const scene = openRepositoryScene()
  scene.harness("codex", { answer: "done", does: UNLIKE })
  const run = await spawn(scene, { harness: undefined, models: "claude-opus-4-5,gpt-5-codex" })
  expect(run.document["contest"]).toMatchObject([
    { run_id: "r1", model: "claude-opus-4-5", harness: "claude" },
    { run_id: "r2", model: "gpt-5-codex", harness: "codex" },
  ])
})

test("--all applies nothing of a contest before the user has chosen", async () => {
  const scene = openRepositoryScene()
  await spawn(scene, { best_of: 2, check: "" }, "echo right > a.txt")
  const before = scene.checkout()
  const all = await scene.call("run.apply", { all: true, space: "s1" })
  expect(all.document).toMatchObject({
    applied: [],
    left: [{ code: "CONTEST_OPEN" }, { code: "CONTEST_OPEN" }],
  })
  expect(all.exitCode).toBe(1)
  expect(scene.checkout()).toBe(before)
})

test("a contest whose runs all fail is reported, with exit code 1", async () => {
  const scene = openRepositoryScene()
  const run = await spawn(scene, { best_of: 2, check: "false" })
  expect(run.exitCode).toBe(1)
  expect(run.text).not.toContain("Take:")
})

test("an impossible contest is refused before anything begins", async () => {
  const scene = openRepositoryScene()
  expect(await codeOf(spawn(scene, { best_of: 17 }))).toBe("USAGE")
  expect(await codeOf(spawn(scene, { best_of: 1, models: "a,b" }))).toBe("USAGE")
  expect(await codeOf(spawn(scene, { model: "opus", models: "sonnet" }))).toBe("USAGE")
  expect(existsSync(scene.state("s1/runs.jsonl"))).toBe(false)
})

test("a background contest prints its runs at once", async () => {
  const scene = openRepositoryScene()
  const run = await spawn(scene, { best_of: 2, background: true })
  expect(run.text).toBe("r1\nr2")
  await scene.call("run.wait", { run_ids: ["r1", "r2"], space: "s1" })
  expect((await scene.call("run.compare", { space: "s1" })).document["runs"]).toMatchObject([
    { verdict: "verified", best: true },
    { verdict: "refuted" },
  ])
})
