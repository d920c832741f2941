import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { openScene, type Document, type Scene } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

let scene: Scene
beforeEach(() => {
  scene = openScene()
  write(".agents/agents/coder.md", "---\nname: coder\nmodel: sonnet\nskills: [plan]\n---\nYou write code.\n")
  write(".claude/agents/reviewer.md", "---\nname: reviewer\n---\nYou review.\n")
  write(".agents/skills/plan/SKILL.md", "---\nname: plan\ndescription: plans\n---\nPlan first.\n")
  write(".agents/skills/test/SKILL.md", "---\nname: test\ndescription: tests\n---\nTest last.\n")
})
afterEach(() => scene.close())

const write = (path: string, content: string): void => {
  mkdirSync(dirname(join(scene.project, path)), { recursive: true })
  writeFileSync(join(scene.project, path), content)
}
const IN_S1 = { env: { MERIDIAN_SPACE_ID: "s1" } }
const records = (): readonly Document[] =>
  scene.events("s1/sessions.jsonl").filter((event) => event["event"] === "start")

const CODER = () => ({
  agent: "coder",
  agent_path: join(scene.project, ".agents/agents/coder.md"),
  skills: ["plan"],
  skill_paths: [join(scene.project, ".agents/skills/plan/SKILL.md")],
  model: "claude-sonnet-5-5",
})

verifies("run.continue-inherits", async () => {
  scene.harness("claude")
  await scene.call("run.spawn", { prompt: "x", agent: "coder" })
  await scene.call("run.continue", { run_id: "r1", prompt: "y" }, IN_S1)
  expect(records()).toEqual([expect.objectContaining(CODER()), expect.objectContaining(CODER())])
  await scene.call("run.continue", { run_id: "r2", prompt: "y", skills: ["test"], model: "opus" }, IN_S1)
  expect(records()[2]).toMatchObject({ agent: "coder", model: "claude-opus-5-5", skills: ["test", "plan"] })
  // The newest record wins, even over the named run.
  await scene.call("run.continue", { run_id: "r1", prompt: "y" }, IN_S1)
  expect(records()[3]).toMatchObject({ model: "claude-opus-5-5", skills: ["test", "plan"] })
})

verifies(
  "run.continue-inherits",
  async () => {
    scene.harness("claude")
    await scene.call("start", { agent: "coder" })
    await scene.call("start", { continue: "c1" })
    expect(records()).toEqual([expect.objectContaining(CODER()), expect.objectContaining(CODER())])
    await scene.call("start", { continue: "c1", agent: "reviewer" })
    expect(records()[2]).toMatchObject({
      agent: "reviewer",
      agent_path: join(scene.project, ".claude/agents/reviewer.md"),
      skills: [],
    })
  },
  "start --continue too",
)

test("recorded files are read from their old paths, even if the name now means another file", async () => {
  const claude = scene.harness("claude")
  await scene.call("run.spawn", { prompt: "x", agent: "coder" })
  write(".meridian/agents/coder.md", "---\nname: coder\n---\nAnother coder.\n")
  await scene.call("run.continue", { run_id: "r1", prompt: "y" }, IN_S1)
  expect(records()[1]).toMatchObject(CODER())
  rmSync(join(scene.project, ".agents/agents/coder.md"))
  await scene.call("run.continue", { run_id: "r1", prompt: "y" }, IN_S1)
  expect(records()[2]).toMatchObject({
    agent: "coder",
    agent_path: join(scene.project, ".meridian/agents/coder.md"),
  })
  expect(claude.calls().length).toBe(3)
})

test("a continuation has the rights of its chat only as far as its user grants them now", async () => {
  const claude = scene.harness("claude")
  const mode = (): string | undefined => {
    const argv = claude.calls().at(-1)?.argv ?? []
    return argv.includes("--permission-mode") ? argv[argv.indexOf("--permission-mode") + 1] : undefined
  }
  const go = async (values: Readonly<Record<string, string>>, tier?: string) => {
    const env = tier === undefined ? {} : { MERIDIAN_PRIMARY_PERMISSION_TIER: tier }
    const { warnings } = await scene.call("start", values, { env })
    return [mode(), warnings.filter((line) => line.includes("TIER_CAPPED")).length]
  }
  const again = { continue: "c1", space: "s1" }
  expect([
    await go({ permission: "workspace-write" }),
    await go(again),
    await go({ ...again, permission: "workspace-write" }),
    await go(again, "full-access"),
    await go({ ...again, permission: "danger" }),
    await go(again, "read-only"),
  ]).toEqual([
    ["acceptEdits", 0],
    [undefined, 1],
    ["acceptEdits", 0],
    ["acceptEdits", 0],
    [undefined, 0],
    ["default", 1],
  ])
  expect(records().map((record) => [record["permission"], record["tier"]])).toEqual([
    ["workspace-write", "workspace-write"],
    [undefined, undefined],
    ["workspace-write", "workspace-write"],
    ["workspace-write", "workspace-write"],
    ["danger", "danger"],
    [undefined, "read-only"],
  ])
})

test("variables are filled in an agent's text, whichever way the harness takes it", async () => {
  scene.harness("claude")
  scene.harness("codex")
  write(".agents/agents/greeter.md", "---\nname: greeter\n---\nGreet {{NAME}}.\n")
  for (const model of ["opus", "codex"]) {
    const values = { prompt: "x", agent: "greeter", model, template_vars: ["NAME=bob"], dry_run: true }
    const shown = JSON.stringify((await scene.call("run.spawn", values)).document)
    expect([shown.includes("Greet bob."), shown.includes("{{NAME}}")]).toEqual([true, false])
  }
})

test("a recorded agent whose file is gone is warned about and stays on record", async () => {
  scene.harness("claude")
  const path = join(scene.project, ".agents/agents/coder.md")
  const told = [
    `WARNING [AGENT_GONE]: The conversation's agent 'coder' is gone (${path}); this time it continues without it. Next: put the profile back, or choose another with -a NAME.`,
  ]
  await scene.call("run.spawn", { prompt: "x", agent: "coder" })
  rmSync(path)
  expect((await scene.call("run.continue", { run_id: "r1", prompt: "y" }, IN_S1)).warnings).toEqual(told)
  expect((await scene.call("start", { continue: "c1", space: "s1" })).warnings).toEqual(told)
  expect(records()).toEqual(Array.from({ length: 3 }, () => expect.objectContaining(CODER())))
})

test("the session is not told the same text twice", async () => {
  const codex = scene.harness("codex")
  await scene.call("run.spawn", { prompt: "first words", model: "codex", skills: ["plan"] })
  await scene.call("run.continue", { run_id: "r1", prompt: "second words" }, IN_S1)
  const [first, second] = codex.calls()
  expect(`${first?.argv.join(" ")} ${first?.stdin}`).toContain("Plan first.")
  expect(`${second?.argv.join(" ")} ${second?.stdin}`).not.toContain("Plan first.")
  expect(second?.stdin).toContain("second words")
})
