/**
 * No way to overspend: the shipped command, pretend harnesses that go round in circles (30 cents a turn), several at once,
 * and kill -9 of everything on the way. What was really used is what the harnesses answered, whether or not anything heard
 * it.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { installPretendHarness, type PretendName } from "@meridian/testkit"
import { expect } from "vitest"

import { document, meridian } from "../e2e/cli-binary.ts"
import { openOutliving, until, type OutlivingScene } from "../scene/outliving.ts"
import { verifies } from "../verifies.ts"

const TURN = 0.3
const NAMES = ["claude", "codex", "opencode"] as const satisfies readonly PretendName[]
const MODELS = { claude: "sonnet", codex: "gpt-5.3-codex", opencode: "fake/small" } as const

const openCircles = (env: Readonly<Record<string, string>>): OutlivingScene => {
  const behaviour = { keeps: true, circles: { everyMs: 400 } }
  const scene = openOutliving({
    ...behaviour,
    env: { MERIDIAN_MAX_PARALLEL: "8", ...env },
  })
  for (const as of ["codex", "opencode"] as const)
    installPretendHarness(join(scene.home, "bin"), { as, behaviour })
  return scene
}

/** Answered turns, across all harnesses and all lives. */
const rounds = ({ home }: OutlivingScene): number =>
  NAMES.flatMap((name) => {
    const file = join(home, "bin", `${name}.rounds.jsonl`)
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []
  }).length

const spawn = async (
  scene: OutlivingScene,
  name: PretendName,
  {
    flags = [],
    env = {},
  }: { readonly flags?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<void> => {
  const words = [
    "run",
    "spawn",
    "--background",
    "-p",
    "Go on.",
    "--harness",
    name,
    "-m",
    MODELS[name],
    ...flags,
  ]
  const { code, stderr } = await meridian(words, { cwd: scene.project, env: { ...scene.env, ...env } })
  if (code !== 0) throw new Error(stderr)
}

const statuses = (scene: OutlivingScene, space = "s1"): readonly string[] => {
  const log = join(scene.project, ".meridian/.spaces", space, "runs.jsonl")
  const last = new Map<string, string>()
  for (const line of existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []) {
    const [, id = ""] = /"id":"(r\d+)"/.exec(line) ?? []
    const [, status] = /"status":"(\w+)"/.exec(line) ?? []
    if (status !== undefined) last.set(id, status)
  }
  return [...last.values()]
}

const arePaused = (scene: OutlivingScene, count: number, space?: string): boolean => {
  const now = statuses(scene, space)
  return now.length === count && now.every((status) => status === "paused")
}

const killAll = (scene: OutlivingScene): void => {
  for (const part of ["run supervise", "run worker", "play.entry"]) scene.kill(part)
}

verifies("overspend.run", async () => {
  for (const name of NAMES) {
    const scene = openCircles({})
    await spawn(scene, name, { flags: ["--max-cost", "1"] })
    await until(() => rounds(scene) >= 2)
    killAll(scene)
    await scene.run("up")
    await until(() => arePaused(scene, 1))
    expect(rounds(scene) * TURN).toBeLessThanOrEqual(1 + TURN)
    const shown = await scene.show()
    expect(shown).toMatchObject({ waiting_for: "budget" })
    // The reported cost is the real cost.
    expect(Number(shown["cost_usd"])).toBeCloseTo(rounds(scene) * TURN, 2)
    scene.kill("")
  }
})

verifies("overspend.tree", async () => {
  const scene = openCircles({ MERIDIAN_BUDGET_TREE_COST: "3" })
  await spawn(scene, "claude")
  const below = ["codex", "opencode", "claude", "codex", "opencode", "claude", "codex"] as const
  const child = { MERIDIAN_SPACE_ID: "s1", MERIDIAN_PARENT_RUN_ID: "r1" }
  await Promise.all(below.map((name) => spawn(scene, name, { env: child })))
  await until(() => rounds(scene) >= 5)
  killAll(scene)
  await scene.run("up")
  await until(() => arePaused(scene, 8))
  expect(rounds(scene) * TURN).toBeLessThanOrEqual(3 + 8 * TURN)
  const answered = await scene.run("questions", "--json")
  expect(document(answered)).toMatchObject({
    questions: Array.from({ length: 8 }, () => ({ kind: "budget" })),
  })
})

verifies("overspend.day", async () => {
  const scene = openCircles({ MERIDIAN_BUDGET_DAY_COST: "5" })
  for (const name of [...NAMES, ...NAMES]) await spawn(scene, name)
  await until(() => rounds(scene) >= 6)
  killAll(scene)
  await scene.run("up")
  const spaces = [1, 2, 3, 4, 5, 6].map((n) => `s${n}`)
  await until(() => spaces.every((space) => arePaused(scene, 1, space)))
  expect(rounds(scene) * TURN).toBeLessThanOrEqual(5 + 6 * TURN)
})

verifies("overspend.unpriced", async () => {
  for (const [flag, cap, used] of [
    ["--max-tokens", "100000", 31_429],
    ["--max-turns", "4", 1],
  ] as const) {
    const scene = openCircles({})
    const words = "run spawn --background -p Go --harness codex -m nobody-knows --max-cost 1".split(" ")
    await scene.run(...words, flag, cap)
    await until(() => rounds(scene) >= 2)
    killAll(scene)
    await scene.run("up")
    await until(() => arePaused(scene, 1))
    expect(rounds(scene) * used).toBeLessThanOrEqual(Number(cap) + used)
    scene.kill("")
  }
})
