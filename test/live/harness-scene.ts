/**
 * A real CLI in an isolated world: private home, a project with one file, and a scripted provider on loopback as its only
 * model. Everything goes through the plans and parsers of the adapter.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { type Environment, findHarness, type Harness, type LaunchRequest } from "@meridian/spaces"
import { type ScriptedProvider, startScriptedProvider } from "@meridian/testkit"

import { type PlannedRun, runPlan, type RunPlanOptions } from "../contract/run-plan.ts"
import { HARNESS_PATH, installHarness } from "./install-harnesses.ts"

export type RealName = "claude" | "codex" | "opencode"

export interface LiveScene {
  readonly harness: Harness
  readonly project: string
  readonly environment: Environment
  readonly params: readonly string[]
  readonly binary: string
  readonly run: (
    script: readonly ScriptStep[],
    request?: Partial<LaunchRequest>,
    options?: Partial<RunPlanOptions>,
  ) => Promise<LiveRun>
  /** Runs a provider with this script during the work, at the address that the environment and params name. */
  readonly provide: <Result>(
    script: readonly ScriptStep[],
    work: (provider: ScriptedProvider) => Promise<Result>,
  ) => Promise<Result>
  readonly close: () => void
}

export interface LiveRun extends PlannedRun {
  /** The request bodies of this conversation only, as text. */
  readonly asked: readonly string[]
}

/** Side requests, such as titles of sessions. They get an answer and use up no step. */
const SIDE_REQUESTS: readonly ScriptStep[] = [
  { when: { system: "title generator" }, repeat: true, text: "Title", label: "side" },
]

export const liveScene = async (name: RealName): Promise<LiveScene> => {
  const harness = await findHarness(name)?.load()
  if (harness === undefined) throw new Error(`no adapter for ${name}`)
  const binary = installHarness(name)
  const root = realpathSync(mkdtempSync(join(tmpdir(), `meridian-live-${name}-`)))
  const project = join(root, "project")
  mkdirSync(project)
  mkdirSync(join(root, ".codex"))
  writeFileSync(join(project, "README.md"), "# lab\n")
  execFileSync("git", ["init", "-q", project])
  // One port for all providers of the scene: sessions remember the address of their model.
  const { port, close } = await startScriptedProvider()
  await close()
  const url = `http://127.0.0.1:${port}`
  const environment = { ...quietEnvironment(root), ...SETTINGS[name].environment(url) }
  const params = SETTINGS[name].params(url)
  // The same for launches without params: each `-c key=value` becomes a line of the configuration.
  const lines = params.filter((word) => word.includes("=")).map((word) => word.replace(/=(.*)$/, ' = "$1"'))
  writeFileSync(
    join(root, ".codex/config.toml"),
    lines.join("\n").replaceAll('"0"', "0").replaceAll('"false"', "false"),
  )

  const provide: LiveScene["provide"] = async (script, work) => {
    const provider = await startScriptedProvider({ port, script: [...SIDE_REQUESTS, ...script] })
    try {
      return await work(provider)
    } finally {
      await provider.close()
    }
  }

  return {
    harness,
    project,
    environment,
    params,
    binary,
    provide,
    run: (script, request = {}, options = {}) =>
      provide(script, async (provider) => {
        const run = await runPlan({
          harness,
          request: {
            mode: "headless",
            cwd: project,
            environment,
            binary,
            scratch: join(root, "scratch"),
            session: { kind: "new" },
            prompt: "Say hello.",
            ...SETTINGS[name].model,
            ...request,
            params: [...params, ...(request.params ?? [])],
          },
          ...options,
        })
        return { ...run, asked: conversation(provider) }
      }),
    close: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** Resolves when the model gets a request that is not a side request. A held answer can be released then. */
export const questionArrived = async (provider: ScriptedProvider): Promise<void> => {
  for (let n = 1; (await provider.arrived(n)).turn === "side"; n += 1);
}

const conversation = (provider: ScriptedProvider): readonly string[] =>
  provider.requests
    .filter((request) => request.n > 0 && request.turn !== "side")
    .map((request) => JSON.stringify(request.body))

const quietEnvironment = (root: string): Environment => ({
  PATH: HARNESS_PATH,
  HOME: root,
  TMPDIR: tmpdir(),
  CODEX_HOME: join(root, ".codex"),
  LANG: "C.UTF-8",
})

interface Settings {
  readonly model: { readonly model?: string }
  readonly environment: (url: string) => Environment
  readonly params: (url: string) => readonly string[]
}

const SETTINGS: Readonly<Record<RealName, Settings>> = {
  claude: {
    model: {},
    environment: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "fake",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    }),
    params: () => [],
  },
  codex: {
    model: { model: "fake-model" },
    environment: () => ({ FAKE_API_KEY: "fake" }),
    params: (url) =>
      [
        ["-c", "model_provider=fake"],
        ["-c", "model_providers.fake.name=Fake"],
        ["-c", `model_providers.fake.base_url=${url}/v1`],
        ["-c", "model_providers.fake.wire_api=responses"],
        ["-c", "model_providers.fake.env_key=FAKE_API_KEY"],
        ["-c", "model_providers.fake.request_max_retries=0"],
        ["-c", "model_providers.fake.stream_max_retries=0"],
        ["--disable", "plugins"],
        ["-c", "otel.metrics_exporter=none"],
        ["-c", "analytics.enabled=false"],
      ].flat(),
  },
  opencode: {
    model: { model: "fake/small" },
    environment: (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: "fake/small",
        enabled_providers: ["fake"],
        share: "disabled",
        autoupdate: false,
        provider: {
          fake: {
            npm: "@ai-sdk/openai-compatible",
            name: "Fake",
            options: { baseURL: `${url}/v1`, apiKey: "fake" },
            models: {
              small: {
                name: "Small",
                limit: { context: 200_000, output: 1000 },
                cost: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
              },
            },
          },
        },
      }),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_SHARE: "1",
    }),
    params: () => [],
  },
}
