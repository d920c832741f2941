/**
 * Facts survive compactions in a project without any setup. A launch of Meridian brings its hook or plugin along, and a
 * hook or plugin of the user works in every project. Two compactions in a row, with the real programs.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

import { afterEach, expect, test } from "vitest"

import { openHookScene, type HookScene } from "./hook-scene.ts"
import { installHarness } from "./install-harnesses.ts"

const MERIDIAN = resolve(import.meta.dirname, "../../packages/cli/dist/meridian.js")
const TASK = "Migrate the API to port 8080. Never touch the billing tables."

const opened: HookScene[] = []
afterEach(async () => {
  for (const scene of opened.splice(0)) await scene.close()
})

const open = async (script: Parameters<typeof openHookScene>[0]): Promise<HookScene> => {
  const scene = await openHookScene(script)
  opened.push(scene)
  return scene
}

/** Each fact is once in the first request after each compaction. No summary kept any of them. */
const expectFacts = (scene: HookScene): void => {
  expect(scene.texts("summary")).toHaveLength(2)
  for (const label of ["after first", "after second"]) {
    const text = scene.texts(label)[0] ?? ""
    expect([label, text.split(`## Task\n> ${TASK}`).length - 1]).toEqual([label, 1])
    expect([label, text.split("## Next Action\n- migrate the callers.").length - 1]).toEqual([label, 1])
    expect(text).toContain("keep the old exports.")
  }
}

const done = { label: "after second", text: "Done.", usage: { input: 500, output: 8 } }

const claudeStep = (label: string, input: number) => ({
  label,
  text: label,
  tools: [{ name: "Bash", input: { command: `echo ${label}`, description: "count" } }],
  usage: { input, output: 20 },
})
const rounds = (round: string) =>
  ["a", "b", "c", "d", "e"].map((name, at) => claudeStep(`${round} ${name}`, 5000 + at * 1000))
const CLAUDE = [
  {
    label: "summary",
    when: { body: "detailed summary|<summary>" },
    repeat: true,
    text: "<analysis>none</analysis><summary>Nothing worth keeping.</summary>",
    usage: { input: 150_000, output: 20 },
  },
  ...rounds("first"),
  claudeStep("first overflow", 150_000),
  claudeStep("after first", 3000),
  ...rounds("second"),
  claudeStep("second overflow", 150_000),
  done,
]
const claudeEnvironment = (scene: HookScene): Readonly<Record<string, string>> => ({
  ANTHROPIC_BASE_URL: scene.provider.url,
  ANTHROPIC_API_KEY: "fake",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_MAX_RETRIES: "1",
})
const CLAUDE_ARGS = ["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"]

const spawnRun = (
  scene: HookScene,
  harness: "claude" | "opencode",
  more: readonly string[],
  environment: object,
) =>
  scene.run(
    process.execPath,
    [
      MERIDIAN,
      "run",
      "spawn",
      "--harness",
      harness,
      "--permission",
      "full-access",
      "-p",
      TASK,
      "--json",
      ...more,
    ],
    {
      environment: {
        ...environment,
        PATH: [dirname(process.execPath), dirname(installHarness(harness)), "/usr/bin:/bin"].join(":"),
      },
    },
  )

test("a run of Claude Code keeps its facts in a project without a hook", async () => {
  const scene = await open(CLAUDE)
  const ended = await spawnRun(scene, "claude", ["--", "--autocompact", "100000"], claudeEnvironment(scene))
  expect(ended).toMatchObject({ exitCode: 0 })
  expectFacts(scene)
})

test.each([
  ["for the user", ["--user"]],
  ["for the user and in the project", ["--user", ""]],
])("Claude Code with the hook %s is told every fact once", async (_, places) => {
  const scene = await open(CLAUDE)
  for (const place of places)
    expect(await scene.meridian("init", "--claude", ...(place === "" ? [] : [place]))).toMatchObject({
      exitCode: 0,
    })
  const ended = await scene.run(installHarness("claude"), [...CLAUDE_ARGS, "--autocompact", "100000"], {
    input: TASK,
    environment: claudeEnvironment(scene),
  })
  expect(ended.exitCode).toBe(0)
  expectFacts(scene)
})

test("a run of Claude Code in a project with a hook is told every fact once", async () => {
  const scene = await open(CLAUDE)
  expect(await scene.meridian("init", "--claude")).toMatchObject({ exitCode: 0 })
  const ended = await spawnRun(scene, "claude", ["--", "--autocompact", "100000"], claudeEnvironment(scene))
  expect(ended).toMatchObject({ exitCode: 0 })
  expectFacts(scene)
})

const codexStep = (label: string, input: number) => ({
  label,
  text: label,
  tools: [{ name: "exec_command", input: { cmd: "true" } }],
  usage: { input, output: 20 },
})

test("Codex with the hook for the user is told every fact once", async () => {
  const scene = await open([
    {
      label: "summary",
      when: { body: "CONTEXT CHECKPOINT" },
      repeat: true,
      text: "Nothing worth keeping.",
      usage: { input: 600, output: 20 },
    },
    codexStep("first overflow", 9000),
    codexStep("after first", 1000),
    codexStep("second overflow", 9000),
    done,
  ])
  const codexHome = join(scene.home, ".codex")
  mkdirSync(codexHome)
  writeFileSync(join(codexHome, "config.toml"), `[projects."${scene.project}"]\ntrust_level = "trusted"\n`)
  expect(await scene.meridian("init", "--codex", "--user")).toMatchObject({ exitCode: 0 })
  const settings = [
    "model_provider=fake",
    "model=fake-model",
    "model_providers.fake.name=Fake",
    `model_providers.fake.base_url=${scene.provider.url}/v1`,
    "model_providers.fake.wire_api=responses",
    "model_providers.fake.request_max_retries=0",
    "model_providers.fake.stream_max_retries=0",
    "model_context_window=8000",
    "model_auto_compact_token_limit=7000",
    "otel.metrics_exporter=none",
    "analytics.enabled=false",
  ].flatMap((setting) => ["-c", setting])
  const ended = await scene.run(
    installHarness("codex"),
    [
      "exec",
      "--json",
      "-s",
      "workspace-write",
      "-C",
      scene.project,
      "--skip-git-repo-check",
      "--disable",
      "plugins",
      "--dangerously-bypass-hook-trust",
      ...settings,
      "-",
    ],
    { input: TASK, environment: { CODEX_HOME: codexHome } },
  )
  expect(ended.exitCode).toBe(0)
  expectFacts(scene)
})

const small = { input: 800, output: 20 }
const overflowing = { input: 7900, output: 20 }
const bash = (label: string, usage = small) => ({
  label,
  text: label,
  tools: [{ name: "bash", input: { command: "true", description: "nothing" } }],
  usage,
})
const OPENCODE = [
  { label: "title", when: { system: "title generator" }, repeat: true, text: "A title", usage: small },
  {
    label: "summary",
    when: { system: "^You are a context summarization agent" },
    repeat: true,
    text: "(none)",
    usage: small,
  },
  bash("first overflow", overflowing),
  bash("after first"),
  bash("second overflow", overflowing),
  { ...done, usage: small },
]

const opencodeEnvironment = (scene: HookScene): Readonly<Record<string, string>> => {
  // Without this OpenCode waits for the npm registry before it loads a plugin.
  const config = join(scene.home, ".config/opencode")
  mkdirSync(join(config, "node_modules"), { recursive: true })
  writeFileSync(
    join(config, "package-lock.json"),
    JSON.stringify({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } }),
  )
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: "fake/small",
      enabled_providers: ["fake"],
      share: "disabled",
      autoupdate: false,
      provider: {
        fake: {
          npm: "@ai-sdk/openai-compatible",
          name: "Fake",
          options: { baseURL: `${scene.provider.url}/v1`, apiKey: "fake" },
          models: { small: { name: "Small", limit: { context: 8000, output: 1000 } } },
        },
      },
    }),
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_SHARE: "1",
    npm_config_fetch_retries: "0",
  }
}

test("a run of OpenCode keeps its facts in a project without the plugin", async () => {
  const scene = await open(OPENCODE)
  expect(await spawnRun(scene, "opencode", ["-m", "fake/small"], opencodeEnvironment(scene))).toMatchObject({
    exitCode: 0,
  })
  expectFacts(scene)
})

test.each([
  ["for the user", "plain"],
  ["for the user, started by Meridian", "launched"],
])("OpenCode with the plugin %s is told every fact once", async (_, how) => {
  const scene = await open(OPENCODE)
  const environment = opencodeEnvironment(scene)
  expect(await scene.meridian("init", "--opencode", "--user")).toMatchObject({ exitCode: 0 })
  const args = ["run", "--format", "json", "--dir", scene.project, "--auto"]
  const ended =
    how === "launched"
      ? await spawnRun(scene, "opencode", ["-m", "fake/small"], environment)
      : await scene.run(installHarness("opencode"), args, { input: TASK, environment })
  expect(ended.exitCode).toBe(0)
  expectFacts(scene)
})
