/**
 * A run outlives the processes that carry it out. The shipped command, a pretend Claude, and kill -9: of the worker with its
 * harness, and of the supervisor too.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness, type PretendBehaviour, type PretendHarness } from "@meridian/testkit"
import { expect, onTestFinished, test } from "vitest"

import { document, emptyFolder, meridian, SEARCH_PATH, type Ran } from "../e2e/cli-binary.ts"
import { processesOf } from "../scene/spaces.ts"
import { verifies } from "../verifies.ts"

interface Scene {
  readonly project: string
  readonly claude: PretendHarness
  readonly run: (...words: readonly string[]) => Promise<Ran>
  readonly show: () => Promise<Readonly<Record<string, unknown>>>
  /** The last status in the log of runs: looking costs nothing. */
  readonly status: () => string
  /** Everything that this scene has started, by the words it was started with. */
  readonly kill: (part: string, signal?: NodeJS.Signals) => number
}

/** `hold`: it never answers. */
const openScene = ({ hold = false, ...behaviour }: PretendBehaviour & { readonly hold?: boolean }): Scene => {
  const home = emptyFolder("outlive ")
  const [project, bin] = [join(home, "project"), join(home, "bin")]
  mkdirSync(join(project, ".git"), { recursive: true })
  const claude = installPretendHarness(bin, {
    as: "claude",
    behaviour: hold ? { ...behaviour, release: join(home, "never") } : behaviour,
  })
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
    HOME: home,
    MERIDIAN_REPO_ROOT: project,
    MERIDIAN_SUPERVISOR: "on",
    MERIDIAN_RETRY_BACKOFF_SECONDS: "0.05",
  }
  const run = (...words: readonly string[]): Promise<Ran> => meridian(words, { cwd: project, env })
  const kill = (part: string, by: NodeJS.Signals = "SIGKILL"): number => {
    const found = processesOf(home).filter((pid) => commandOf(pid).includes(part))
    for (const pid of found) signal(pid, by)
    return found.length
  }
  onTestFinished(() => {
    // A supervisor may have started another one in the moment before it was killed itself.
    for (let round = 0; round < 100 && kill("") > 0; round += 1);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  return {
    project,
    claude,
    run,
    kill,
    status: () => {
      const log = join(project, ".meridian/.spaces/s1/runs.jsonl")
      const told = existsSync(log) ? [...readFileSync(log, "utf8").matchAll(/"status":"(\w+)"/g)] : []
      return told.at(-1)?.[1] ?? ""
    },
    show: async () => {
      const told = document(await run("run", "show", "r1", "--space", "s1", "--json"))
      return Object.fromEntries(Object.entries(told ?? {}))
    },
  }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

const signal = (pid: number, by: NodeJS.Signals): void => {
  try {
    process.kill(pid, by)
  } catch {
    // Gone already.
  }
}

/** Waits for what a process does in its own time; the test's own limit ends a wait that is in vain. */
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50))
}

const ended = async (scene: Scene, status = "succeeded"): Promise<Readonly<Record<string, unknown>>> => {
  await until(() => scene.status() === status)
  return await scene.show()
}

/** Nobody is left to write it down: a command does, when it looks. */
const lost = async (scene: Scene): Promise<Readonly<Record<string, unknown>>> => {
  for (;;) {
    const shown = await scene.show()
    if (shown["status"] === "failed") return shown
  }
}

const SAID = JSON.stringify({
  type: "assistant",
  parent_tool_use_id: null,
  message: { role: "assistant", content: [{ type: "text", text: "I have begun." }] },
})

const beginnings = (shown: Readonly<Record<string, unknown>>): readonly string[] =>
  [...JSON.stringify(shown["attempts"]).matchAll(/"began":"([^"]+)"/g)].map(([, time = ""]) => time)

const attempts = (shown: Readonly<Record<string, unknown>>): unknown => shown["attempts"]

/** A background run that has said something and is now at work. */
const begun = async (scene: Scene): Promise<void> => {
  await scene.run("run", "spawn", "--background", "-p", "build the parser")
  await spoken(scene)
}

const spoken = async (scene: Scene): Promise<void> => {
  const events = join(scene.project, ".meridian/.spaces/s1/runs/r1/events.jsonl")
  await until(() => existsSync(events) && readFileSync(events, "utf8").includes("I have begun"))
}

verifies("run.outlives-its-processes", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  scene.kill("run worker")
  scene.kill("play.entry")
  const shown = await ended(scene)
  expect(shown).toMatchObject({ task: "build the parser", report_summary: "All done." })
  expect(attempts(shown)).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
  const [first, second] = scene.claude.calls()
  expect(second?.session).toBe(first?.session)
  expect(second?.argv).toContain("--resume")
  expect(second?.stdin).toMatch(/^\[meridian\] The process that carried out this run was killed/)
})

test("with supervisor, worker and harness dead, the next command revives the work", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  scene.kill("run supervise")
  scene.kill("run worker")
  scene.kill("play.entry")
  await scene.run("up")
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
})

verifies("run.waits-for-limits", async () => {
  const words = "You've hit your usage limit. Try again in 3 seconds."
  const scene = openScene({ failFirst: { times: 1, failure: "rate_limit", words }, answer: "All done." })
  const spawned = await scene.run("run", "spawn", "--background", "-p", "build the parser", "--json")
  expect(document(spawned)).toMatchObject({ run_id: "r1" })
  const waiting = await ended(scene, "waiting")
  expect(waiting).toMatchObject({ waiting_for: "limit", waiting_until: expect.any(String) })
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "rate_limit" }, { why: "succeeded" }])
  const [, second] = scene.claude.calls()
  expect(Date.parse(String(beginnings(shown)[1]))).toBeGreaterThanOrEqual(
    Date.parse(String(waiting["waiting_until"])),
  )
  expect(second?.stdin).toContain("build the parser")
})

test("a run that waits goes on earlier when a person says so", async () => {
  const words = "usage limit reached, resets in 5 hours"
  const scene = openScene({ failFirst: { times: 1, failure: "rate_limit", words }, answer: "All done." })
  await scene.run("run", "spawn", "--background", "-p", "build the parser")
  await ended(scene, "waiting")
  expect((await scene.run("run", "resume", "r1", "--space", "s1")).code).toBe(0)
  await ended(scene)
})

verifies("run.steered", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  const paused = await scene.run("run", "pause", "r1", "--space", "s1", "--json")
  expect(document(paused)).toEqual({ run_id: "r1", status: "paused" })
  scene.claude.behave({ answer: "All done." })
  await scene.run("run", "send", "r1", "and write tests", "--space", "s1")
  expect(await scene.show()).toMatchObject({ status: "paused" })
  expect(scene.claude.calls()).toHaveLength(1)
  await scene.run("run", "resume", "r1", "--space", "s1")
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "paused" }, { why: "succeeded" }])
  expect(scene.claude.calls()[1]?.stdin).toMatch(/^\[meridian\] The run was paused.*\n\nand write tests$/s)
})

test("words sent to a run are its next message, and it does not end before", async () => {
  const go = join(emptyFolder("go "), "go")
  const scene = openScene({ noise: [SAID], release: go, answer: "First." })
  await begun(scene)
  await scene.run("run", "send", "r1", "now the tests", "--space", "s1")
  writeFileSync(go, "")
  const shown = await ended(scene)
  expect(attempts(shown)).toMatchObject([{ why: "succeeded" }, { why: "succeeded" }])
  expect(scene.claude.calls().map(({ stdin }) => stdin)).toMatchObject([expect.any(String), "now the tests"])
})

test("a plan that the user's Meridian did not write is not carried out", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  const file = join(scene.project, ".meridian/.spaces/s1/runs/r1/params.json")
  scene.kill("run supervise")
  scene.kill("run worker")
  scene.kill("play.entry")
  writeFileSync(
    file,
    readFileSync(file, "utf8").replaceAll('"permission": "read-only"', '"permission": "danger"'),
  )
  const shown = await lost(scene)
  expect(shown).toMatchObject({ failure_reason: "orphan_run" })
  expect(String(shown["message"])).toContain("not written by your Meridian")
  expect(scene.claude.calls()).toHaveLength(1)
})

verifies("run.survives-shutdown", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  // As when the machine goes down: everybody is asked to leave, and nobody says why.
  scene.kill("run supervise", "SIGTERM")
  scene.kill("run worker", "SIGTERM")
  await until(() => scene.kill("run worker", "SIGTERM") === 0)
  expect(scene.status()).toBe("running")
  await scene.run("up")
  expect(attempts(await ended(scene))).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
})

verifies("run.foreground-survives", async () => {
  const go = join(emptyFolder("go "), "go")
  const scene = openScene({ noise: [SAID], release: go, answer: "All done." })
  const running = scene.run("run", "spawn", "-p", "build the parser", "--json")
  await spoken(scene)
  scene.kill("run spawn", "SIGHUP")
  writeFileSync(go, "")
  expect(document(await running)).toMatchObject({ status: "succeeded", report: "All done." })
})

verifies(
  "run.foreground-survives",
  async () => {
    const scene = openScene({ noise: [SAID], hold: true })
    const running = scene.run("run", "spawn", "-p", "build the parser")
    await spoken(scene)
    scene.claude.behave({ answer: "All done." })
    scene.kill("run spawn")
    scene.kill("play.entry")
    await running
    await scene.run("up")
    expect(attempts(await ended(scene))).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
  },
  "a kill: the next command carries it on",
)

verifies("run.stop-is-kept", async () => {
  const scene = openScene({ noise: [SAID], hold: true, ignoreSignals: ["SIGTERM"] })
  const running = scene.run("run", "spawn", "-p", "build the parser")
  await spoken(scene)
  scene.kill("run spawn", "SIGINT")
  const log = join(scene.project, ".meridian/.spaces/s1/runs.jsonl")
  await until(() => readFileSync(log, "utf8").includes('"asked":"stop"'))
  scene.kill("run spawn")
  scene.kill("play.entry")
  await running
  await scene.run("up")
  expect(await ended(scene, "cancelled")).toMatchObject({ status: "cancelled", attempts: [{}] })
  expect(scene.claude.calls()).toHaveLength(1)
})

verifies("serve.supervises", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  for (const part of ["run supervise", "run worker", "play.entry"]) scene.kill(part)
  const serving = scene.run("serve", "--http", "--port", "0")
  expect(attempts(await ended(scene))).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
  scene.kill("serve", "SIGTERM")
  expect((await serving).code).toBe(0)
})
