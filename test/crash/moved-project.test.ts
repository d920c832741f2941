/** A project that is moved while one of its runs waits: the run keeps waiting, and is made a run of the new place. */
import { cpSync, readFileSync, renameSync } from "node:fs"
import { join } from "node:path"

import { openEngine } from "@meridian/engine"
import { expect } from "vitest"

import { document, meridian, type Ran } from "../e2e/cli-binary.ts"
import { ALLOW_ALL, scriptedModel } from "../engine-scene.ts"
import { begun, ended, openOutliving, SAID, type OutlivingScene } from "../scene/outliving.ts"
import { verifies } from "../verifies.ts"

const WORDS = "usage limit reached, resets in 5 hours"

/** A run that waits, without any process. */
const waiting = async (): Promise<{
  readonly scene: OutlivingScene
  readonly moved: string
  readonly run: (...words: readonly string[]) => Promise<Ran>
  readonly status: () => string | undefined
}> => {
  const failFirst = { times: 1, failure: "rate_limit", words: WORDS } as const
  const scene = openOutliving({ noise: [SAID], failFirst, answer: "All done." })
  await begun(scene)
  await ended(scene, "waiting")
  scene.kill("run supervise")
  scene.kill("run worker")
  const moved = join(scene.home, "elsewhere")
  const env = { ...scene.env, MERIDIAN_REPO_ROOT: moved }
  return {
    scene,
    moved,
    run: (...words) => meridian(words, { cwd: moved, env }),
    status: () =>
      [
        ...readFileSync(join(moved, ".meridian/.spaces/s1/runs.jsonl"), "utf8").matchAll(/"status":"(\w+)"/g),
      ].at(-1)?.[1],
  }
}

verifies("space.rebind", async () => {
  const { scene, moved, run, status } = await waiting()
  const engine = await openEngine({
    database: join(scene.project, ".meridian/engine.sqlite"),
    models: [scriptedModel([])],
    permissions: ALLOW_ALL,
  })
  const { id } = await engine.sessions.create({ location: { directory: scene.project } })
  await engine.close()
  await scene.run("schedule", "0 9 * * *", "--", "run", "spawn", "--space", "s1", "-p", "review")
  renameSync(scene.project, moved)
  // Looking at the run must not end it.
  expect((await run("run", "list", "--space", "s1")).stdout).toContain("waiting")
  const early = await run("run", "resume", "r1", "--space", "s1")
  expect([early.code, status()]).toEqual([1, "waiting"])
  expect(early.stderr).toMatch(/ERROR \[RUN_NOT_RESUMABLE\].*space rebind/)
  const told = await run("space", "rebind", "--json")
  expect(document(told)).toMatchObject({
    spaces: [{ space_id: "s1", from: scene.project, chats: 1, runs: 1 }],
    sessions: 1,
    schedules: 1,
  })
  await run("run", "resume", "r1", "--space", "s1")
  while (status() !== "succeeded") await new Promise((resolve) => setTimeout(resolve, 50))
  const [first, second] = scene.claude.calls()
  expect([second?.cwd, second?.session]).toEqual([moved, first?.session])
  const listed = await run("session", "list", "--json")
  expect(document(listed)).toMatchObject({ sessions: [{ session_id: id, directory: moved }] })
  expect(document(await run("space", "rebind", "--json"))).toMatchObject({
    spaces: [{ space_id: "s1", chats: 0, runs: 0 }],
  })
})

verifies(
  "space.rebind",
  async () => {
    const { scene, moved, run, status } = await waiting()
    cpSync(scene.project, moved, { recursive: true })
    expect((await run("space", "rebind", "s1")).stderr).toContain("ERROR [SPACE_NOT_MOVED]")
    expect(status()).toBe("waiting")
    expect(scene.claude.calls()).toHaveLength(1)
  },
  "a copy is refused",
)

verifies(
  "space.rebind",
  async () => {
    const { scene, moved } = await waiting()
    renameSync(scene.project, moved)
    const env = { ...scene.env, HOME: moved, XDG_STATE_HOME: moved, MERIDIAN_REPO_ROOT: moved }
    const told = await meridian(["space", "rebind", "s1", "--json"], { cwd: moved, env })
    expect(document(told)).toMatchObject({ spaces: [{ chats: 0, runs: 0 }] })
    expect(scene.claude.calls()).toHaveLength(1)
    const byAgent = { ...scene.env, MERIDIAN_REPO_ROOT: moved, MERIDIAN_SPACE_ID: "s1" }
    expect((await meridian(["space", "rebind", "s1"], { cwd: moved, env: byAgent })).stderr).toContain(
      "TRUST_NEEDS_PERSON",
    )
  },
  "what somebody else wrote stays as it is, and no agent does it",
)
