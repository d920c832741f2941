/**
 * No way to overspend, with the real harnesses. The scripted model goes round in circles and writes much; each of its turns
 * costs 30 cents.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { asObject, listAt, numberAt } from "@meridian/protocol"
import type { ScriptedProvider } from "@meridian/testkit"
import { expect, onTestFinished, test } from "vitest"

import { type LiveScene, liveScene, type RealName } from "./harness-scene.ts"
import { meridianIn } from "./meridian-command.ts"

/** The usage of a turn that costs 30 cents at the model's prices. */
const MODELS = [
  ["claude", "sonnet", { input: 50_000, output: 20_000 }],
  ["codex", "gpt-5.3-codex", { input: 11_429, output: 20_000 }],
  ["opencode", "fake/small", { input: 20_000, output: 16_000 }],
] as const

const TURN = 0.3

const call = (name: RealName, command: string) =>
  name === "codex"
    ? { name: "exec_command", input: { cmd: command } }
    : { name: name === "claude" ? "Bash" : "bash", input: { command, description: "x" } }

const circles = (name: RealName, usage: ScriptStep["usage"]): readonly ScriptStep[] => [
  {
    label: "round",
    repeat: true,
    text: "Once more.",
    tools: [call(name, "echo round")],
    ...(usage === undefined ? {} : { usage }),
  },
]

const openScene = async (name: RealName): Promise<LiveScene> => {
  const scene = await liveScene(name)
  onTestFinished(scene.close)
  return scene
}

const rounds = ({ requests }: ScriptedProvider): number =>
  requests.filter(({ turn }) => turn === "round").length

const logOf = ({ project }: LiveScene): string =>
  readFileSync(join(project, ".meridian/.spaces/s1/runs.jsonl"), "utf8")

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50))
}

const SPAWN = "run spawn --permission danger --max-cost 1".split(" ")

test.each(MODELS)("%s: a model in circles is stopped at the cap of its run", async (name, model, usage) => {
  const scene = await openScene(name)
  const meridian = meridianIn(scene)
  await scene.provide(circles(name, usage), async (provider) => {
    const { stdout, stderr } = await meridian(...SPAWN, "-m", model, "-p", "Go on.", "--json")
    if (stdout === "") throw new Error(stderr)
    const run = asObject(JSON.parse(stdout))
    expect(run).toMatchObject({ status: "paused", waiting_for: "budget", attempts: [{ why: "budget" }] })
    // The cap is reached within the fourth turn. A request already on its way is cut off.
    expect(rounds(provider)).toBeLessThanOrEqual(5)
    expect(costOf(run)).toBeCloseTo(4 * TURN, 2)
  })
})

test.each(MODELS)("%s: what was spent before kill -9 counts", async (name, model, usage) => {
  const scene = await openScene(name)
  const meridian = meridianIn(scene)
  await scene.provide(circles(name, usage), async (provider) => {
    await meridian(...SPAWN, "--background", "-m", model, "-p", "Go on.")
    await until(() => rounds(provider) === 3)
    const pidOf = (key: string): number =>
      Number([...logOf(scene).matchAll(new RegExp(`"${key}":(\\d+)`, "g"))].at(-1)?.[1])
    process.kill(pidOf("worker_pid"), "SIGKILL")
    process.kill(-pidOf("harness_pid"), "SIGKILL")
    await until(() => logOf(scene).includes('"waiting_for":"budget"'))
    const run = asObject(JSON.parse((await meridian("run", "show", "r1", "--space", "s1", "--json")).stdout))
    expect(run).toMatchObject({ attempts: [{ why: "worker_died" }, { why: "budget" }] })
    // The cap, and one turn for each of the two attempts that were at work.
    expect(rounds(provider) * TURN).toBeLessThanOrEqual(1 + 3 * TURN)
    // The usage of the attempt that was cut off is unknown.
    expect(costOf(run)).toBeGreaterThanOrEqual((rounds(provider) - 2) * TURN - 0.01)
  })
})

const costOf = (run: ReturnType<typeof asObject>): number =>
  listAt(run, "attempts").reduce<number>(
    (sum, attempt) => sum + (numberAt(asObject(attempt), "cost_usd") ?? 0),
    0,
  )
