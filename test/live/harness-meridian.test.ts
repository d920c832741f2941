/** The shipped command with the real harnesses: what seed 002 promises, seen from outside and from the provider. */
import type { ScriptStep } from "@meridian/engine/script"
import type { JsonObject } from "@meridian/protocol"
import type { ScriptedProvider } from "@meridian/testkit"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

import { type LiveScene, liveScene, questionArrived, type RealName } from "./harness-scene.ts"
import { type Meridian, meridianIn } from "./meridian-command.ts"

const MODELS: readonly (readonly [RealName, string])[] = [
  ["claude", "sonnet"],
  ["codex", "gpt-5.3-codex"],
  ["opencode", "fake/small"],
]

/** How each harness is asked to run a command. */
const SHELL: Readonly<
  Record<RealName, (command: string) => { readonly name: string; readonly input: JsonObject }>
> = {
  claude: (command) => ({ name: "Bash", input: { command, description: "x" } }),
  codex: (command) => ({ name: "exec_command", input: { cmd: command, yield_time_ms: 30_000 } }),
  opencode: (command) => ({ name: "bash", input: { command, description: "x" } }),
}

interface RunDocument {
  readonly run_id: string
  readonly status: string
  readonly harness_session_id: string
  readonly report?: string
}

describe.each(MODELS)("%s", (name, model) => {
  let scene: LiveScene
  let meridian: Meridian
  let first: RunDocument

  beforeAll(async () => {
    scene = await liveScene(name)
  })
  afterAll(() => scene.close())

  const asking = async (
    script: readonly ScriptStep[],
    ...args: readonly string[]
  ): Promise<{ readonly document: RunDocument; readonly exitCode: number | null; readonly asked: string }> =>
    scene.provide(script, async (provider) => {
      const { stdout, exitCode, stderr } = await meridian(...args, "--json")
      if (stdout === "") throw new Error(stderr)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what does not fit fails the assertions
      return { document: JSON.parse(stdout) as RunDocument, exitCode, asked: askedOf(provider) }
    })

  test("run spawn makes a space and records the harness session, the tokens and the report", async () => {
    const usage = { input: 1200, output: 7, cacheRead: 300 }
    meridian = meridianIn(scene)
    const { document, exitCode } = await asking(
      [{ text: "Remember 4711.", usage }],
      "run",
      "spawn",
      "-m",
      model,
      "-p",
      "Remember a number.",
    )
    expect(exitCode).toBe(0)
    expect(document).toMatchObject({
      status: "succeeded",
      harness: name,
      report: "Remember 4711.",
      input_tokens: 1200,
      cached_input_tokens: 300,
      output_tokens: 7,
    })
    first = document
    meridian = meridianIn(scene, { MERIDIAN_SPACE_ID: "s1" })
  })

  test("an agent that runs meridian in its shell finds the one that launched it", async () => {
    const tool = SHELL[name]("meridian --version; command -v meridian")
    const { asked } = await asking(
      [{ tools: [tool] }, { text: "Found." }],
      "run",
      "spawn",
      "-m",
      model,
      "--permission",
      "full-access",
      "-p",
      "Call meridian.",
    )
    expect(asked).toMatch(/0\.1\.0\\n\S*\/\.cache\/meridian\/bin\/[0-9a-f]{16}\/meridian/)
  })

  test("run continue goes on in the same harness session, which the provider sees", async () => {
    const usage = { input: 1300, output: 4 }
    const { document, asked } = await asking(
      [{ text: "It was 4711.", usage }],
      "run",
      "continue",
      first.run_id,
      "-p",
      "Which number?",
    )
    expect(document).toMatchObject({
      status: "succeeded",
      harness_session_id: first.harness_session_id,
      report: "It was 4711.",
      input_tokens: 1300,
      output_tokens: 4,
    })
    expect(asked.includes("Remember 4711.")).toBe(true)
    expect(asked.includes("Which number?")).toBe(true)
  })

  test("run continue --fork goes on in another session with the same history", async () => {
    const { document, asked } = await asking(
      [{ text: "Forked." }],
      "run",
      "continue",
      first.run_id,
      "--fork",
      "-p",
      "Another way.",
    )
    expect(document).toMatchObject({ status: "succeeded", report: "Forked." })
    expect(document.harness_session_id).not.toBe(first.harness_session_id)
    expect(asked.includes("Remember 4711.")).toBe(true)
  })

  test("run spawn --background prints the id alone, and run wait --report brings the report", async () => {
    await scene.provide([{ text: "Later.", hold: true }], async (provider) => {
      const spawned = await meridian("run", "spawn", "--background", "-m", model, "-p", "Take your time.")
      expect(spawned.stdout).toMatch(/^r\d+\n$/)
      const id = spawned.stdout.trim()
      const waiting = meridian("run", "wait", id, "--report", "--json")
      await questionArrived(provider)
      expect(provider.release()).toBeGreaterThan(0)
      const { exitCode, stdout } = await waiting
      expect(exitCode).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({
        runs: [{ run_id: id, status: "succeeded", report: "Later." }],
      })
    })
  })

  test("run cancel ends a running one, and it is recorded as cancelled", async () => {
    await scene.provide([{ text: "Never.", hold: true, repeat: true }], async (provider) => {
      const spawned = await meridian("run", "spawn", "--background", "-m", model, "-p", "Wait for me.")
      const id = spawned.stdout.trim()
      await questionArrived(provider)
      expect((await meridian("run", "cancel", id)).exitCode).toBe(0)
      const { stdout } = await meridian("run", "show", id, "--json")
      expect(JSON.parse(stdout)).toMatchObject({ status: "cancelled" })
    })
  })

  test.each([
    ["auth", "authentication"],
    ["context-overflow", "context_overflow"],
  ] as const)("a provider that fails with %s makes a failed run, not tried twice", async (error, failure) => {
    const { document, exitCode } = await asking(
      [{ error, repeat: true }],
      "run",
      "spawn",
      "-m",
      model,
      "-p",
      "Try.",
    )
    expect(exitCode).toBe(1)
    expect(document).toMatchObject({ status: "failed" })
    expect(JSON.stringify(document)).toContain(failure)
  })
})

const askedOf = (provider: ScriptedProvider): string =>
  provider.requests.map((request) => JSON.stringify(request.body)).join("\n")

describe("meridian start", () => {
  let scene: LiveScene
  beforeAll(async () => {
    scene = await liveScene("claude")
  })
  afterAll(() => scene.close())

  test("starts Claude without a terminal, passes on its output, and tells how to continue", async () => {
    const started = await scene.provide([{ text: "Hello at start." }], async (provider) => ({
      ...(await meridianIn(scene)("start", "-m", "sonnet", "--", "-p", "Say hello at start.")),
      asked: askedOf(provider),
    }))
    expect(started).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Hello at start.") })
    expect(started.asked.includes("Say hello at start.")).toBe(true)
    expect(started.stdout + started.stderr).toMatch(/meridian start .*--continue c1/)
  })

  test("start --continue goes on in the same session, which the provider sees", async () => {
    const again = await scene.provide([{ text: "Hello again." }], async (provider) => ({
      ...(await meridianIn(scene)("start", "--continue", "--", "-p", "And again.")),
      asked: askedOf(provider),
    }))
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Hello again.") })
    expect(again.asked.includes("Hello at start.")).toBe(true)
    expect(again.asked.includes("And again.")).toBe(true)
  })

  test("the exit code of the harness is passed on", async () => {
    const failed = await scene.provide([{ error: "auth", repeat: true }], async () =>
      meridianIn(scene)("start", "-m", "sonnet", "--", "-p", "This fails."),
    )
    expect(failed.exitCode).toBe(1)
  })
})
