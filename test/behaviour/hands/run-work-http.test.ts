/** The work of runs over HTTP: real repositories, real worktrees, a real server. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { createClient } from "@meridian/server/client"
import { expect } from "vitest"

import { openHttpScene } from "../../http-scene.ts"
import { openRepositoryScene, serveWorld, type RepositoryScene } from "../../scene/repository.ts"
import { until } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

const serve = (scene: RepositoryScene) => openHttpScene([], { world: serveWorld(scene) })

const R1 = { spaceID: "s1", runID: "r1" }

verifies("http.run-work", async () => {
  const scene = openRepositoryScene({
    "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
    "old.txt": "old\n",
  })
  await scene.work(
    { "a.txt": "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n", "new.txt": "n\n" },
    {},
    {},
    "rm old.txt",
  )
  await using http = await serve(scene)
  const { spaces } = http.client
  const diff = await spaces.diff(R1)
  expect(
    diff.files.map(({ path, change, additions, deletions }) => [path, change, additions, deletions]),
  ).toEqual([
    ["a.txt", "modified", 2, 2],
    ["new.txt", "added", 1, 0],
    ["old.txt", "deleted", 0, 1],
  ])
  expect(diff.files[0]?.hunks).toHaveLength(2)
  expect(diff.files[0]?.hunks[0]).toMatchObject({
    oldStart: 1,
    newStart: 1,
    lines: ["-1", "+one", " 2", " 3", " 4"],
  })
  // Clients must not learn a directory of the server.
  expect(JSON.stringify(diff)).not.toContain(scene.project)
  // Staged first: nothing is committed, and the worktree stays.
  const staged = await spaces.apply({ ...R1, noCommit: true })
  expect(staged).toMatchObject({ staged: true, applied: [{ runId: "r1", commits: 0 }], left: [] })
  expect(scene.git("status", "--porcelain")).toBe("M  a.txt\nA  new.txt\nD  old.txt")
  const gone = await spaces.discard(R1)
  expect(gone.discarded).toMatchObject([{ runId: "r1", files: 3 }])
  expect(scene.git("show", `${gone.discarded[0]?.kept}:new.txt`)).toBe("n")
  await expect(spaces.apply(R1)).rejects.toMatchObject({ code: "RUN_ALREADY_APPLIED", status: 409 })
  expect((await spaces.run(R1)).worktree?.state).toBe("discarded")
})

verifies(
  "http.run-work",
  async () => {
    const scene = openRepositoryScene()
    await scene.work({ "a.txt": "two\n" })
    await scene.work({ "a.txt": "three\n" }, { space: "s1" })
    await using http = await serve(scene)
    const { spaces } = http.client
    const applied = await spaces.apply(R1)
    expect(applied).toMatchObject({
      staged: false,
      applied: [{ commits: 1, branch: "main", files: ["a.txt"] }],
    })
    const before = scene.checkout()
    await expect(spaces.apply({ spaceID: "s1", runID: "r2" })).rejects.toMatchObject({
      code: "APPLY_CONFLICT",
      status: 409,
      message: "Run r2 conflicts with run r1 in a.txt; nothing was changed.",
    })
    expect(scene.checkout()).toBe(before)
    await expect(spaces.diff({ spaceID: "s1", runID: "r9" })).rejects.toMatchObject({ status: 404 })
    const stranger = createClient({ url: http.server.url, token: "wrong" })
    await expect(stranger.spaces.discard({ spaceID: "s1", runID: "r2" })).rejects.toMatchObject({
      status: 401,
    })
    expect(existsSync(join(scene.env["HOME"] ?? "", ".local/state/meridian/worktrees"))).toBe(true)
  },
  "a conflict is reported in the command's words, and a stranger can do nothing",
)

verifies(
  "http.run-work",
  async () => {
    const scene = openRepositoryScene({ "a.txt": "one\n", "check.sh": "grep -q two a.txt\n" })
    await scene.work(
      { "a.txt": "two\n", "check.sh": "true\n" },
      { check: ["sh check.sh"] },
      { face: "command" },
    )
    await using http = await serve(scene)
    const { warnings = [], applied } = await http.client.spaces.apply(R1)
    expect(applied).toMatchObject([{ checks: 1 }])
    expect(warnings.join()).toContain("check.sh")
  },
  "changed files its checks depend on are named beside the success",
)

verifies("http.run-comment", async () => {
  const scene = openRepositoryScene()
  scene.harness("claude", { answer: "done", does: "while [ ! -e go ]; do sleep 0.05; done" })
  const running = scene.start("run.spawn", {
    prompt: "do it",
    harness: "claude",
    permission: "workspace-write",
    worktree: true,
  })
  await using http = await serve(scene)
  const { spaces } = http.client
  await until(async () => (await spaces.run(R1).catch(() => undefined))?.status === "running")
  const told = await spaces.send({
    ...R1,
    text: "Say it in one word.",
    at: { path: "src/a file.ts", line: 12, code: "  const x = 1" },
  })
  expect(told).toEqual({ runId: "r1", status: "running", waitingWords: 1 })
  await spaces.send({
    ...R1,
    text: "Bring it back.",
    at: { path: "b.ts", line: 3, removed: true, code: "gone" },
  })
  await spaces.send({ ...R1, text: "Thanks." })
  await expect(spaces.send({ ...R1, text: "x", at: { path: "a.ts", line: 0 } })).rejects.toMatchObject({
    status: 400,
  })
  await expect(spaces.send({ ...R1, text: "  ", at: { path: "a.ts", line: 1 } })).rejects.toMatchObject({
    code: "PROMPT_REQUIRED",
  })
  const inbox = readFileSync(scene.state("s1/runs/r1/inbox.jsonl"), "utf8")
  expect(inbox).toContain(
    JSON.stringify("About src/a file.ts:12:\n>   const x = 1\n\nSay it in one word.").slice(1, -1),
  )
  expect(inbox).toContain(
    "About b.ts:3 before your change (you removed this line):\\n> gone\\n\\nBring it back.",
  )
  running.child.kill("SIGTERM")
  await running.ended
  await expect(spaces.send({ ...R1, text: "late" })).rejects.toMatchObject({ code: "RUN_ENDED", status: 409 })
})

verifies(
  "http.run-comment",
  async () => {
    const scene = openRepositoryScene()
    await scene.work({ "a.txt": "two\n" })
    await using http = await serve(scene)
    const { spaces } = http.client
    await expect(spaces.send({ ...R1, text: "late" })).rejects.toMatchObject({
      code: "RUN_ENDED",
      status: 409,
    })
    const { runId } = await spaces.continue({
      ...R1,
      text: "Say three.",
      at: { path: "a.txt", line: 1, code: "two" },
    })
    await until(async () => (await spaces.run({ spaceID: "s1", runID: runId })).status === "succeeded")
    expect(runId).toBe("r2")
    const { continuedFrom, worktree } = await spaces.run({ spaceID: "s1", runID: runId })
    expect([continuedFrom, worktree?.branch]).toEqual(["r1", "meridian/s1-r1"])
    expect(readFileSync(scene.state("s1/runs/r2/prompt.md"), "utf8")).toContain(
      "About a.txt:1:\n> two\n\nSay three.",
    )
  },
  "an ended run continues with the comment, in its worktree",
)
