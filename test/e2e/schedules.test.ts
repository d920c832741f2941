/** Scheduled runs: the shipped command, a pretend Claude, supervisors that are killed. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness, type PretendBehaviour, type PretendHarness } from "@meridian/testkit"
import { expect, onTestFinished, test } from "vitest"

import { processesOf } from "../scene/spaces.ts"
import { verifies } from "../verifies.ts"
import { document, emptyFolder, meridian, SEARCH_PATH, type Ran } from "./cli-binary.ts"

interface Scene {
  readonly claude: PretendHarness
  readonly run: (...words: readonly string[]) => Promise<Ran>
  readonly runWith: (env: Readonly<Record<string, string>>, ...words: readonly string[]) => Promise<Ran>
  readonly json: (...words: readonly string[]) => Promise<Readonly<Record<string, unknown>>>
  readonly schedules: () => Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Due times of the firings that began a run, in log order. */
  readonly begun: (schedule?: string) => readonly string[]
  readonly file: string
  readonly killSupervisors: () => number
  /** Lets a waiting harness answer. */
  readonly release: () => void
}

const openScene = (behaviour: PretendBehaviour & { readonly hold?: boolean } = {}): Scene => {
  const home = emptyFolder("schedules ")
  const [project, bin] = [join(home, "project"), join(home, "bin")]
  mkdirSync(join(project, ".git"), { recursive: true })
  const { hold = false, ...rest } = behaviour
  const claude = installPretendHarness(bin, {
    as: "claude",
    behaviour: hold ? { ...rest, release: join(home, "go") } : rest,
  })
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
    HOME: home,
    MERIDIAN_REPO_ROOT: project,
    MERIDIAN_SUPERVISOR: "on",
    TZ: "UTC",
  }
  const runWith: Scene["runWith"] = (more, ...words) =>
    meridian(words, { cwd: project, env: { ...env, ...more } })
  const run: Scene["run"] = (...words) => runWith({}, ...words)
  const json: Scene["json"] = async (...words) => Object(document(await run(...words, "--json")))
  const kill = (part: string): number => {
    const found = processesOf(home).filter((pid) => commandOf(pid).includes(part))
    for (const pid of found) signal(pid)
    return found.length
  }
  onTestFinished(() => {
    for (let round = 0; round < 100 && kill("") > 0; round += 1);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const state = join(project, ".meridian/.spaces")
  return {
    claude,
    run,
    runWith,
    json,
    schedules: async () => {
      const { schedules } = await json("schedule", "list")
      return Array.isArray(schedules) ? schedules.map(Object) : []
    },
    begun: (schedule = "sch1") => {
      const log = join(state, "s1/runs.jsonl")
      const told = existsSync(log) ? readFileSync(log, "utf8") : ""
      return [...told.matchAll(/"firing":"(sch\d+)@([^"]+)"/g)].flatMap(([, id, due = ""]) =>
        id === schedule ? [due] : [],
      )
    },
    file: join(state, "schedules.json"),
    killSupervisors: () => kill("run\0supervise"),
    release: () => writeFileSync(join(home, "go"), ""),
  }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}

const signal = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // The process is already gone.
  }
}

const SPAWN = ["--", "run", "spawn", "-p", "look"]

/** Waits for other processes. The test's time limit ends a wait that never succeeds. */
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}

verifies("schedule.fires", async () => {
  const scene = openScene({ answer: "Looked." })
  const made = await scene.run("schedule", "* * * * * *", "--", "run", "spawn", "-p", "look at the builds")
  expect([made.code, made.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^sch1 active: next .* \(UTC\), in space s1\n {2}run spawn -p 'look at the builds'\n$/,
    ),
  ])
  await until(async () => (await scene.schedules())[0]?.["last"] !== undefined)
  await until(() => scene.begun().length > 0)
  expect((await scene.run("schedule", "pause", "sch1")).stdout).toBe("sch1 paused\n")
  await scene.run("run", "wait", "r1", "--space", "s1")
  const run = await scene.json("run", "show", "r1", "--space", "s1", "--report")
  expect(run).toMatchObject({
    status: "succeeded",
    task: "look at the builds",
    background: true,
    report: "Looked.",
    firing: `sch1@${scene.begun()[0]}`,
  })
  expect(scene.claude.calls()[0]?.stdin).toContain("look at the builds")
  // A firing under way when the schedule was paused still gets its outcome.
  await until(async () => !JSON.stringify(await scene.schedules()).includes('"outcome":"open"'))
  const [listed] = await scene.schedules()
  expect(listed).toMatchObject({ schedule_id: "sch1", status: "paused", space_id: "s1", overlap: false })
  expect(listed).not.toHaveProperty("next")
  const before = scene.begun().length
  expect(await scene.json("schedule", "resume", "sch1")).toMatchObject({ status: "active" })
  await until(() => scene.begun().length > before)
  expect((await scene.run("schedule", "remove", "sch1")).stdout).toBe("removed: sch1\n")
  expect(await scene.schedules()).toEqual([])
  expect(await scene.run("schedule", "remove", "sch1")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^ERROR \[SCHEDULE_NOT_FOUND\]/),
  })
})

verifies("schedule.catches-up", async () => {
  const scene = openScene()
  const made = await scene.runWith({ MERIDIAN_SUPERVISOR: "off" }, "schedule", "* * * * * *", ...SPAWN)
  expect(made.stderr).toMatch(/^WARNING \[SCHEDULES_UNWATCHED\]/)
  const madeAt = Date.now()
  await until(() => Date.now() > madeAt + 3_000)
  const back = new Date().toISOString()
  await scene.run("up")
  await until(() => scene.begun().length >= 2)
  await scene.run("schedule", "remove", "sch1")
  const missed = scene.begun().filter((due) => due < back)
  expect(missed.length).toBeLessThanOrEqual(1)
  expect(Date.parse(scene.begun()[0] ?? "")).toBeGreaterThan(madeAt + 1_000)
})

verifies("schedule.once", async () => {
  const scene = openScene()
  await scene.run("schedule", "*/2 * * * * *", "--overlap", "--", "run", "spawn", "-p", "look")
  for (let round = 0; round < 5; round += 1) {
    const before = scene.begun().length
    await until(() => scene.begun().length > before)
    // The kill hits the supervisor at an arbitrary moment. Several start at once and one gets the lock.
    await until(() => scene.killSupervisors() > 0)
    await Promise.all([scene.run("up"), scene.run("up")])
  }
  await scene.run("schedule", "pause", "sch1")
  await until(async () => !JSON.stringify(await scene.schedules()).includes('"outcome":"open"'))
  const begun = scene.begun()
  expect(new Set(begun).size).toBe(begun.length)
})

verifies(
  "schedule.once",
  async () => {
    const scene = openScene()
    await scene.run("schedule", "* * * * * *", "--", "run", "spawn", "-p", "look")
    await until(() => scene.begun().length > 0)
    await scene.run("schedule", "pause", "sch1")
    await until(async () => !JSON.stringify(await scene.schedules()).includes('"outcome":"open"'))
    await until(() => scene.killSupervisors() === 0)
    const [{ last } = {}] = await scene.schedules()
    const left = Object(JSON.parse(readFileSync(scene.file, "utf8")))
    const [one] = left.schedules
    const leave = (firing: object): void =>
      writeFileSync(scene.file, JSON.stringify({ ...left, schedules: [{ ...one, last_firing: firing }] }))
    const settledAs = async (): Promise<unknown> => {
      await scene.run("up")
      await until(async () => !JSON.stringify(await scene.schedules()).includes('"outcome":"open"'))
      await until(() => scene.killSupervisors() === 0)
      return (await scene.schedules())[0]?.["last"]
    }
    const { due, at } = Object(last)
    leave({ due, at, outcome: "open" })
    expect(await settledAs()).toEqual(last)
    const never = { due: "2026-01-01T00:00:00.000Z", at: "2026-01-01T00:00:00.000Z" }
    leave({ ...never, outcome: "open" })
    expect(await settledAs()).toEqual({ ...never, outcome: "skipped", message: "paused before it began" })
    expect(scene.begun()).toHaveLength(new Set(scene.begun()).size)
  },
  "what a supervisor that died left open gets its outcome, also when the schedule was paused",
)

verifies("schedule.no-overlap", async () => {
  const scene = openScene({ hold: true })
  await scene.run("schedule", "* * * * * *", "--", "run", "spawn", "-p", "look")
  await until(() => scene.begun().length > 0)
  await until(async () => JSON.stringify(await scene.schedules()).includes('"outcome":"skipped"'))
  const [skipped] = await scene.schedules()
  expect(skipped).toMatchObject({
    last: { outcome: "skipped", message: "run r1 of an earlier firing is running" },
  })
  expect(scene.begun()).toHaveLength(1)
  scene.release()
  await until(() => scene.begun().length > 1)
})

verifies("schedule.own", async () => {
  const scene = openScene()
  await scene.run("schedule", "* * * * * *", "--", "run", "spawn", "-p", "look")
  await until(() => scene.begun().length > 0)
  await scene.run("schedule", "pause", "sch1")
  await until(async () => !JSON.stringify(await scene.schedules()).includes('"outcome":"open"'))
  const before = scene.begun().length
  const text = readFileSync(scene.file, "utf8")
  writeFileSync(scene.file, text.replace('"look"', '"send the keys"').replace('"paused"', '"active"'))
  await scene.run("schedule", "* * * * * *", "--", "run", "spawn", "--space", "s1", "-p", "mine")
  await until(() => scene.begun("sch2").length > 1)
  expect(scene.begun()).toHaveLength(before)
  expect((await scene.schedules())[0]).toMatchObject({ schedule_id: "sch1", status: "foreign" })
  expect(await scene.run("schedule", "resume", "sch1")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^ERROR \[SCHEDULE_FOREIGN\]/),
  })
  const agent = await scene.runWith({ MERIDIAN_SPACE_ID: "s1" }, "schedule", "* * * * *", ...SPAWN)
  expect([agent.code, agent.stderr]).toEqual([1, expect.stringMatching(/ERROR \[SCHEDULE_NEEDS_PERSON\]/)])
})

verifies("schedule.bad-input", async () => {
  const scene = openScene()
  const cases: readonly (readonly [code: string, words: readonly string[]])[] = [
    ["SCHEDULE_PATTERN", ["99 * * * *", ...SPAWN]],
    ["SCHEDULE_NEVER", ["0 0 31 2 *", ...SPAWN]],
    ["SCHEDULE_NEVER", ["2020-01-01T09:00", ...SPAWN]],
    ["SCHEDULE_ZONE", ["0 9 * * *", "--zone", "Mars/Base", ...SPAWN]],
    ["SCHEDULE_COMMAND", ["0 9 * * *"]],
    ["SCHEDULE_COMMAND", ["0 9 * * *", "--", "run", "wait", "r1"]],
    ["SCHEDULE_COMMAND", ["0 9 * * *", "--", "run", "spawn", "-p", "-"]],
    ["SCHEDULE_COMMAND", ["0 9 * * *", "--", "run", "spawn", "-p", "x".repeat(40_000)]],
    ["UNKNOWN_COMMAND", ["0 9 * * *", "--", "run", "spwan", "-p", "look"]],
    ["USAGE", ["0 9 * * *", "--", "run", "spawn", "--nope", "-p", "look"]],
    ["HARNESS_NOT_INSTALLED", ["0 9 * * *", ...SPAWN, "--harness", "codex"]],
    ["SPACE_NOT_FOUND", ["0 9 * * *", ...SPAWN, "--space", "s9"]],
  ]
  for (const [code, words] of cases) {
    const ran = await scene.run("schedule", ...words)
    expect([words, ran.stdout, ran.stderr]).toEqual([
      words,
      "",
      expect.stringMatching(new RegExp(`^ERROR \\[${code}\\]: .* Next: .*\\n$`)),
    ])
  }
  expect(existsSync(scene.file)).toBe(false)
})

test("a document that is damaged is told, and left as it is", async () => {
  const scene = openScene()
  mkdirSync(dirname(scene.file), { recursive: true, mode: 0o700 })
  writeFileSync(scene.file, "{")
  for (const words of [["list"], ["remove", "sch1"], ["0 9 * * *", ...SPAWN]])
    expect(await scene.run("schedule", ...words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ERROR \[SCHEDULES_DAMAGED\]: .*schedules\.json cannot be read/),
    })
  expect(readFileSync(scene.file, "utf8")).toBe("{")
})
