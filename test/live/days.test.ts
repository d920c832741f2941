/**
 * Runs of the real harnesses that meet a limit, lose their processes, or continue in another harness. The provider is
 * scripted, and a reset is a few seconds away.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { expect, onTestFinished, test } from "vitest"

import { type LiveScene, liveScene, questionArrived, type RealName } from "./harness-scene.ts"
import { installHarness } from "./install-harnesses.ts"
import { meridianIn } from "./meridian-command.ts"

const MODELS: readonly (readonly [RealName, string])[] = [
  ["claude", "sonnet"],
  ["codex", "gpt-5.3-codex"],
  ["opencode", "fake/small"],
]
const TASK = "Move billing to the new ledger and never touch the old invoices."

/** Claude Code reports the time of the reset, so the run waits. Codex does not report it. OpenCode waits on its own. */
const SIGN_OF_LIMIT: Readonly<Record<RealName, string>> = {
  claude: '"waiting_for":"limit"',
  codex: '"why":"rate_limit"',
  opencode: '"why":"succeeded"',
}

const limited = (seconds: number): ScriptStep => ({
  error: {
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    message: `You have hit your usage limit. Try again in ${seconds} seconds.`,
    headers: { "retry-after": String(seconds) },
  },
})

const logOf = ({ project }: LiveScene): string =>
  readFileSync(join(project, ".meridian/.spaces/s1/runs.jsonl"), "utf8")

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 100))
}

const openScene = async (name: RealName): Promise<LiveScene> => {
  const scene = await liveScene(name)
  onTestFinished(scene.close)
  return scene
}

test.each(MODELS)("%s: a limit is waited out, and the run goes on", async (name, model) => {
  const scene = await openScene(name)
  const meridian = meridianIn(scene)
  const script: readonly ScriptStep[] = [limited(4), { text: "Done after all." }]
  await scene.provide(script, async (provider) => {
    const { stdout, stderr } = await meridian("run", "spawn", "-m", model, "-p", TASK, "--json")
    if (stdout === "") throw new Error(stderr)
    expect(JSON.parse(stdout)).toMatchObject({ status: "succeeded", report: "Done after all." })
    const last = provider.requests.findLast(({ turn }) => turn !== "side")
    expect(JSON.stringify(last?.body)).toContain(TASK)
  })
  expect(logOf(scene)).toContain(SIGN_OF_LIMIT[name])
})

test.each(MODELS)("%s: the run goes on when worker and harness were killed", async (name, model) => {
  const scene = await openScene(name)
  const meridian = meridianIn(scene)
  await scene.provide(
    [{ text: "Never said.", hold: true }, { text: "Done after all." }],
    async (provider) => {
      const spawned = await meridian("run", "spawn", "--background", "-m", model, "-p", TASK)
      expect(spawned.stdout).toBe("r1\n")
      await questionArrived(provider)
      const pidOf = (key: string): number =>
        Number([...logOf(scene).matchAll(new RegExp(`"${key}":(\\d+)`, "g"))].at(-1)?.[1])
      await until(() => pidOf("harness_pid") > 0)
      process.kill(pidOf("worker_pid"), "SIGKILL")
      process.kill(-pidOf("harness_pid"), "SIGKILL")
      await until(() => logOf(scene).includes('"event":"finalize"'))
      const shown = await meridian("run", "show", "r1", "--space", "s1", "--json")
      expect(JSON.parse(shown.stdout)).toMatchObject({
        status: "succeeded",
        report_summary: "Done after all.",
        attempts: [{ why: "worker_died" }, { why: "succeeded" }],
      })
      const last = provider.requests.findLast(({ turn }) => turn !== "side")
      expect(JSON.stringify(last?.body)).toContain(TASK)
    },
  )
})

/**
 * Through Meridian's hook or plugin, the user's words arrive in the middle of the work. Codex takes no hook at launch, so
 * there they arrive at the end.
 */
const TOOLS: Readonly<Record<"claude" | "opencode", string>> = { claude: "Bash", opencode: "bash" }

test.each(["claude", "opencode"] as const)(
  "%s: words sent while a tool works are in the next request, once",
  async (name) => {
    const scene = await openScene(name)
    const meridian = meridianIn(scene)
    const [, model = ""] = MODELS.find(([known]) => known === name) ?? []
    const command = "until [ -e go ]; do sleep 0.2; done"
    const words = "Leave the table of old invoices alone."
    await scene.provide(
      [
        { tools: [{ name: TOOLS[name], input: { command, description: "waits" } }] },
        { repeat: true, text: "Done." },
      ],
      async (provider) => {
        const spawn = "run spawn --background --permission full-access -m".split(" ")
        await meridian(...spawn, model, "-p", TASK)
        const folder = join(scene.project, ".meridian/.spaces/s1/runs/r1")
        const events = join(folder, "events.jsonl")
        await questionArrived(provider)
        // OpenCode reports a call when it has ended.
        if (name === "claude")
          await until(() => existsSync(events) && readFileSync(events, "utf8").includes("tool.started"))
        await meridian("run", "send", "r1", "--space", "s1", words)
        await until(() => existsSync(join(folder, "offer.json")))
        writeFileSync(join(scene.project, "go"), "")
        await until(() => logOf(scene).includes('"event":"finalize"'))
        const shown = await meridian("run", "show", "r1", "--space", "s1", "--json")
        expect(JSON.parse(shown.stdout)).toMatchObject({
          status: "succeeded",
          attempts: [{ why: "succeeded" }],
        })
        const [, next] = provider.requests.filter(({ turn }) => turn !== "side")
        expect(JSON.stringify(next?.body).split(words)).toHaveLength(2)
      },
    )
  },
)

/** Claude Code, Codex and the engine, all with the provider of a scene of Codex. */
const everyHarness = (scene: Awaited<ReturnType<typeof openScene>>) => {
  const url = /base_url=(\S+)\/v1/.exec(scene.params.join(" "))?.[1] ?? ""
  return {
    PATH: [dirname(installHarness("claude")), dirname(scene.binary), scene.environment["PATH"] ?? ""].join(
      ":",
    ),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "fake",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "fake",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    IS_SANDBOX: "1",
  }
}

test("Claude Code, Codex and the engine carry one run through: one report, the cost of all, nothing done twice", async () => {
  const scene = await openScene("codex")
  const meridian = meridianIn(scene, everyHarness(scene))
  mkdirSync(join(scene.project, ".meridian"), { recursive: true })
  // Codex does not say when its limit ends, so it would be waited for a minute at first.
  const config = '[direct]\nmodel = "openai/gpt-5.2"\n[runs]\nfailover_after = "10s"\n'
  writeFileSync(join(scene.project, ".meridian/config.toml"), config)
  const engine = { model: "gpt-5.2" }
  const script: readonly ScriptStep[] = [
    {
      when: { api: "messages" },
      text: "I begin with the first module.",
      tools: [{ name: "Bash", input: { command: "echo first-module > one.txt", description: "x" } }],
      usage: { input: 1_000, output: 10 },
    },
    { when: { api: "messages" }, repeat: true, ...limited(7_200) },
    {
      when: { api: "responses", ...engine },
      text: "Done in the engine.",
      usage: { input: 3_000, output: 30 },
    },
    {
      when: { api: "responses" },
      text: "I go on with the second module.",
      tools: [{ name: "exec_command", input: { cmd: "echo second-module > two.txt" } }],
      usage: { input: 2_000, output: 20 },
    },
    { when: { api: "responses" }, repeat: true, ...limited(7_200) },
  ]
  await scene.provide(script, async (provider) => {
    const words = "run spawn --harness claude --failover codex,direct --permission full-access --json"
    const { stdout, stderr } = await meridian(...words.split(" "), "-p", TASK)
    if (stdout === "") throw new Error(stderr)
    const shown: unknown = JSON.parse(stdout)
    expect(shown).toMatchObject({ run_id: "r1", status: "succeeded", report: "Done in the engine." })
    const { attempts, cost_usd: cost, input_tokens: tokens } = asRun(shown)
    const harnesses = attempts.map(({ harness }) => harness)
    expect([...new Set(harnesses)]).toEqual(["claude", "codex", "direct"])
    expect(tokens).toBe(6_000)
    expect(cost).toBeCloseTo(
      attempts.reduce((sum, { cost_usd: one = 0 }) => sum + one, 0),
      9,
    )
    expect(["one.txt", "two.txt"].map((file) => readFileSync(join(scene.project, file), "utf8"))).toEqual([
      "first-module\n",
      "second-module\n",
    ])
    const last = JSON.stringify(provider.requests.findLast(({ turn }) => turn !== "side")?.body)
    for (const told of [TASK, "echo first-module > one.txt", "echo second-module > two.txt"])
      expect(last).toContain(told)
  })
})

interface ShownRun {
  readonly attempts: readonly { readonly harness: string; readonly cost_usd?: number }[]
  readonly cost_usd: number
  readonly input_tokens: number
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was compared before
const asRun = (shown: unknown): ShownRun => shown as ShownRun

test("a run of Claude Code whose limit is long goes on in Codex, told what was done", async () => {
  const scene = await openScene("codex")
  const meridian = meridianIn(scene, everyHarness(scene))
  const script: readonly ScriptStep[] = [
    {
      when: { api: "messages" },
      text: "I begin with the first module.",
      tools: [{ name: "Bash", input: { command: "echo first-module-moved", description: "x" } }],
      usage: { input: 1_000, output: 10 },
    },
    { when: { api: "messages" }, repeat: true, ...limited(7_200) },
    { when: { api: "responses" }, text: "Done in Codex.", usage: { input: 2_000, output: 20 } },
  ]
  await scene.provide(script, async (provider) => {
    const words = "run spawn --harness claude --failover codex --permission full-access --json"
    const { stdout, stderr } = await meridian(...words.split(" "), "-p", TASK)
    if (stdout === "") throw new Error(stderr)
    expect(JSON.parse(stdout)).toMatchObject({ run_id: "r1", status: "succeeded", report: "Done in Codex." })
    const told = provider.requests.find(({ body }) => JSON.stringify(body).includes("which cannot go on"))
    expect(JSON.stringify(told?.body)).toContain(TASK)
    expect(JSON.stringify(told?.body)).toContain("first-module-moved")
  })
})
