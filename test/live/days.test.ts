/**
 * Runs of the real harnesses that meet a limit, lose their processes, or go on in another harness. The provider is scripted; a
 * reset is a few seconds away.
 */
import { readFileSync } from "node:fs"
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

/** Claude Code hands the time on, and so the run waits; Codex does not tell it, and OpenCode waits by itself. */
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

test("a run of Claude Code whose limit is long goes on in Codex, told what was done", async () => {
  const scene = await openScene("codex")
  const url = /base_url=(\S+)\/v1/.exec(scene.params.join(" "))?.[1] ?? ""
  const meridian = meridianIn(scene, {
    PATH: [dirname(installHarness("claude")), dirname(scene.binary), scene.environment["PATH"] ?? ""].join(
      ":",
    ),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "fake",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    IS_SANDBOX: "1",
  })
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
