/**
 * The engine as a harness, for real: the shipped program in a project, with a scripted provider on loopback as its model.
 * Runs go through the adapter's own plans, commands through the binary.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { directEntry, readStream, type Harness, type LaunchRequest, type ProcessEnd } from "@meridian/spaces"
import { startScriptedProvider, type ScriptedProvider } from "@meridian/testkit"
import { afterAll, onTestFinished } from "vitest"

import { BINARY, meridian, SEARCH_PATH, type Ran } from "./e2e/cli-binary.ts"

export const directHarness = (): Promise<Harness> => directEntry([process.execPath, BINARY]).load()

export interface DirectScene {
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  readonly provider: ScriptedProvider
  /** The command, as a person types it. */
  readonly run: (...args: readonly string[]) => Promise<Ran>
  /** The same in another environment. */
  readonly runWith: (env: Readonly<Record<string, string>>, ...args: readonly string[]) => Promise<Ran>
  /** Bodies of the requests to the model, as text. */
  readonly asked: () => readonly string[]
  /** One headless launch by the adapter's plan. */
  readonly launch: (request?: Partial<LaunchRequest>) => Promise<RawRun>
}

export interface RawRun {
  readonly stdout: Uint8Array
  readonly end: ProcessEnd
}

export interface SceneOptions {
  readonly script?: readonly ScriptStep[]
  readonly env?: Readonly<Record<string, string>>
}

export const MODEL = "anthropic/claude-sonnet-4-6"

/** Its folder and its provider are removed after the test. */
export const directScene = async (options: SceneOptions = {}): Promise<DirectScene> => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "meridian direct ")))
  const provider = await startScriptedProvider({ script: options.script ?? [] })
  whenOver(async () => {
    await provider.close()
    rmSync(project, { recursive: true, force: true, maxRetries: 3 })
  })
  writeFileSync(join(project, "README.md"), "# lab\n")
  mkdirSync(join(project, ".meridian"))
  writeFileSync(join(project, ".meridian/config.toml"), `[direct]\nmodel = "${MODEL}"\n`)
  const env = {
    PATH: SEARCH_PATH,
    HOME: join(project, "home"),
    MERIDIAN_REPO_ROOT: project,
    ANTHROPIC_API_KEY: "sk-ant-test-000000000000",
    ANTHROPIC_BASE_URL: `${provider.url}/v1`,
    ...options.env,
  }
  const harness = await directHarness()
  return {
    project,
    env,
    provider,
    run: (...args) => meridian(args, { cwd: project, env }),
    runWith: (other, ...args) => meridian(args, { cwd: project, env: other }),
    asked: () =>
      provider.requests.flatMap((request) => (request.n === 0 ? [] : [JSON.stringify(request.body)])),
    launch: async (request = {}) =>
      startPlan(harness, {
        mode: "headless",
        cwd: project,
        environment: env,
        session: { kind: "new", chosen: "0f0e0d0c-1111-4222-8333-444455556666" },
        prompt: "Do it.",
        model: MODEL,
        scratch: join(project, ".scratch"),
        ...request,
      }),
  }
}

/** After the test that made it, or after the file outside a test. */
const whenOver = (clean: () => Promise<void>): void => {
  try {
    onTestFinished(clean)
  } catch {
    afterAll(clean)
  }
}

export const startPlan = async (harness: Harness, request: LaunchRequest): Promise<RawRun> => {
  const plan = harness.launch(request)
  for (const file of plan.files) {
    mkdirSync(dirname(file.path), { recursive: true })
    writeFileSync(file.path, file.content)
  }
  const env = Object.fromEntries(
    Object.entries({ ...request.environment, ...plan.environment }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )
  const child = spawn(plan.command, plan.args, { cwd: plan.cwd, env, stdio: ["pipe", "pipe", "pipe"] })
  const pieces: Buffer[] = []
  let stderrTail = ""
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece))
  child.stderr.on("data", (piece: Buffer) => {
    stderrTail = (stderrTail + piece.toString("utf8")).slice(-4096)
  })
  child.stdin.on("error", () => undefined)
  child.stdin.end(plan.stdin.kind === "text" ? plan.stdin.text : "")
  await once(child, "close")
  return {
    stdout: Buffer.concat(pieces),
    end: { exitCode: child.exitCode, signal: child.signalCode, stderrTail },
  }
}

/** The adapter's verdict. */
export const judged = async ({ stdout, end }: RawRun) => {
  const reader = readStream((await directHarness()).parser())
  const events = reader.feed(stdout)
  const { events: last, verdict } = reader.end(end)
  return { events: [...events, ...last], verdict }
}
