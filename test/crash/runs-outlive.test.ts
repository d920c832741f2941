/**
 * A run outlives the processes that carry it out. The shipped command, a pretend Claude, and kill -9: of the worker with its
 * harness, and of the supervisor too.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness, type PretendBehaviour, type PretendHarness } from "@meridian/testkit"
import { expect, onTestFinished, test } from "vitest"

import { document, emptyFolder, meridian, SEARCH_PATH, type Ran } from "../e2e/cli-binary.ts"
import { processesOf } from "../scene/spaces.ts"

interface Scene {
  readonly project: string
  readonly claude: PretendHarness
  readonly run: (...words: readonly string[]) => Promise<Ran>
  readonly show: (id?: string) => Promise<Readonly<Record<string, unknown>>>
  /** Everything that this scene has started, by the words it was started with. */
  readonly kill: (part: string) => number
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
  const kill = (part: string): number => {
    const found = processesOf(home).filter((pid) => commandOf(pid).includes(part))
    for (const pid of found) signal(pid)
    return found.length
  }
  onTestFinished(() => {
    kill("")
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  return {
    project,
    claude,
    run,
    kill,
    show: async (id = "r1") => {
      const told = document(await run("run", "show", id, "--space", "s1", "--json"))
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

const signal = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // Gone already.
  }
}

/** Waits for what a process does in its own time; the test's own limit ends a wait that is in vain. */
const until = async <T>(look: () => Promise<T> | T, isSo: (value: T) => boolean): Promise<T> => {
  for (;;) {
    const value = await look()
    if (isSo(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 100))
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
  await until(
    () => scene.show(),
    ({ activity }) => JSON.stringify(activity ?? {}).includes("begun"),
  )
}

test("a run whose worker and harness are killed goes on in the same conversation, by itself", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  scene.claude.behave({ answer: "All done." })
  scene.kill("run worker")
  scene.kill("play.entry")
  const shown = await until(
    () => scene.show(),
    ({ status }) => status === "succeeded",
  )
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
  const shown = await until(
    () => scene.show(),
    ({ status }) => status === "succeeded",
  )
  expect(attempts(shown)).toMatchObject([{ why: "worker_died" }, { why: "succeeded" }])
})

test("a usage limit with a told end is waited for, and the run goes on after it", async () => {
  const words = "You've hit your usage limit. Try again in 3 seconds."
  const scene = openScene({ failFirst: { times: 1, failure: "rate_limit", words }, answer: "All done." })
  const spawned = await scene.run("run", "spawn", "--background", "-p", "build the parser", "--json")
  expect(document(spawned)).toMatchObject({ run_id: "r1" })
  const waiting = await until(
    () => scene.show(),
    ({ status }) => status === "waiting",
  )
  expect(waiting).toMatchObject({ waiting_for: "limit", waiting_until: expect.any(String) })
  const shown = await until(
    () => scene.show(),
    ({ status }) => status === "succeeded",
  )
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
  await until(
    () => scene.show(),
    ({ status }) => status === "waiting",
  )
  expect((await scene.run("run", "resume", "r1", "--space", "s1")).code).toBe(0)
  await until(
    () => scene.show(),
    ({ status }) => status === "succeeded",
  )
})

test("a paused run stops, is left alone, and goes on where it was", async () => {
  const scene = openScene({ noise: [SAID], hold: true })
  await begun(scene)
  const paused = await scene.run("run", "pause", "r1", "--space", "s1", "--json")
  expect(document(paused)).toEqual({ run_id: "r1", status: "paused" })
  scene.claude.behave({ answer: "All done." })
  await scene.run("run", "send", "r1", "and write tests", "--space", "s1")
  expect(await scene.show()).toMatchObject({ status: "paused" })
  expect(scene.claude.calls()).toHaveLength(1)
  await scene.run("run", "resume", "r1", "--space", "s1")
  const shown = await until(
    () => scene.show(),
    ({ status }) => status === "succeeded",
  )
  expect(attempts(shown)).toMatchObject([{ why: "paused" }, { why: "succeeded" }])
  expect(scene.claude.calls()[1]?.stdin).toMatch(/^\[meridian\] The run was paused.*\n\nand write tests$/s)
})

test("words sent to a run are its next message, and it does not end before", async () => {
  const go = join(emptyFolder("go "), "go")
  const scene = openScene({ noise: [SAID], release: go, answer: "First." })
  await begun(scene)
  await scene.run("run", "send", "r1", "now the tests", "--space", "s1")
  writeFileSync(go, "")
  const shown = await until(
    () => scene.show(),
    ({ status }) => status === "succeeded",
  )
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
  const shown = await until(
    () => scene.show(),
    ({ status }) => status === "failed",
  )
  expect(shown).toMatchObject({ failure_reason: "orphan_run" })
  expect(String(shown["message"])).toContain("not written by your Meridian")
  expect(scene.claude.calls()).toHaveLength(1)
})
