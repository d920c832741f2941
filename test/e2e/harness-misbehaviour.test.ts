/** The shipped binary and badly behaved harnesses: every run ends, and its recorded end is true. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import {
  installPretendHarness,
  type PretendBehaviour,
  type PretendHarness,
  type PretendName,
} from "@meridian/testkit"
import { describe, expect, test } from "vitest"

import { document, emptyFolder, meridian, type Ran, SEARCH_PATH } from "./cli-binary.ts"

const HARNESSES: readonly (readonly [PretendName, string])[] = [
  ["claude", "sonnet"],
  ["codex", "codex"],
  ["opencode", "fake/small"],
]

interface Scene {
  readonly cwd: string
  readonly pretend: PretendHarness
  readonly run: (...args: readonly string[]) => Promise<Ran>
}

const sceneOf = ([name, model]: (typeof HARNESSES)[number]) => {
  const scene = (behaviour: PretendBehaviour, extra: Readonly<Record<string, string>> = {}): Scene => {
    const cwd = emptyFolder()
    const bin = join(emptyFolder(), "bin")
    const pretend = installPretendHarness(bin, { as: name, behaviour })
    mkdirSync(join(cwd, ".meridian"))
    writeFileSync(
      join(cwd, ".meridian/config.toml"),
      "[timeouts]\nkill_grace_seconds = 0.2\n[defaults]\nretry_backoff_seconds = 0.01\n",
    )
    const env = { PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`, HOME: emptyFolder(), ...extra }
    return { cwd, pretend, run: (...args) => meridian(args, { cwd, env }) }
  }
  const spawned = (of: Scene, ...args: readonly string[]): Promise<Ran> =>
    of.run("run", "spawn", "-m", model, "-p", "Work.", "--json", ...args)
  return { scene, spawned }
}

describe("whatever the harness", () => {
  const { scene, spawned } = sceneOf(["claude", "sonnet"])

  test("120 MB of lines of 10 MB pass through a small heap, and the answer arrives", async () => {
    const flood = { lines: 12, bytes: 10 * 1024 * 1024 }
    const ran = await spawned(scene({ flood }, { NODE_OPTIONS: "--max-old-space-size=100" }))
    expect(document(ran)).toMatchObject({ status: "succeeded", report: "Pretend answer." })
  })

  test("a child that holds the pipe does not hold the run", async () => {
    const of = scene({ grandchildSeconds: 600 })
    expect(document(await spawned(of))).toMatchObject({ status: "succeeded", report: "Pretend answer." })
    const pid = of.pretend.calls()[0]?.grandchild ?? 0
    expect(pid).toBeGreaterThan(1)
    // The process is still alive: the run did not wait for it.
    expect(process.kill(pid, "SIGKILL")).toBe(true)
  })

  test("one that ignores SIGTERM is cancelled all the same, and is gone", async () => {
    const of = scene({ hang: "within", ignoreSignals: ["SIGTERM", "SIGINT"] })
    await spawned(of, "--background")
    await seen(of)
    expect(document(await of.run("run", "cancel", "r1", "--space", "s1", "--json"))).toMatchObject({
      status: "cancelled",
    })
    const pid = of.pretend.calls()[0]?.pid ?? 0
    expect(() => process.kill(pid, 0)).toThrow("ESRCH")
  })

  test("one that somebody else ends by SIGTERM is recorded as cancelled", async () => {
    const of = scene({ hang: "within" })
    await spawned(of, "--background")
    await seen(of)
    process.kill(of.pretend.calls()[0]?.pid ?? 0, "SIGTERM")
    await of.run("run", "wait", "r1", "--space", "s1")
    expect(document(await of.run("run", "show", "r1", "--space", "s1", "--json"))).toMatchObject({
      status: "cancelled",
    })
  })

  test("one that hangs before its first word ends by its time limit with exit code 3", async () => {
    const ran = await spawned(scene({ hang: "before" }), "--timeout", "0.5")
    expect([ran.code, document(ran)]).toMatchObject([3, { status: "failed", exit_code: 3 }])
  })

  test.each(["unread", "closed"] as const)(
    "a prompt of a megabyte that is %s does not stop the answer",
    async (stdin) => {
      const of = scene({ stdin })
      writeFileSync(join(of.cwd, "big.md"), "long words ".repeat(100_000))
      expect(document(await spawned(of, "-f", "big.md"))).toMatchObject({ status: "succeeded" })
    },
  )

  test("one that reads its prompt late gets it whole", async () => {
    const release = join(emptyFolder(), "release")
    const of = scene({ stdin: "late", release })
    writeFileSync(join(of.cwd, "big.md"), "long words ".repeat(100_000))
    const started = await spawned(of, "-f", "big.md", "--background")
    expect(started.stdout).toContain("r1")
    await seen(of)
    writeFileSync(release, "")
    expect((await of.run("run", "wait", "r1", "--space", "s1")).code).toBe(0)
    expect(of.pretend.calls()[0]?.stdin?.length).toBeGreaterThan(1_100_000)
  })
})

describe.each(HARNESSES)("%s", (name, model) => {
  const { scene, spawned } = sceneOf([name, model])

  test("one that dies within its answer is a failed run that keeps its session", async () => {
    const ran = await spawned(scene({ dieBy: "SIGKILL" }))
    expect([ran.code, document(ran)]).toMatchObject([
      1,
      { status: "failed", harness_session_id: expect.any(String) },
    ])
  })

  test("exit code 0 without a word is a failed run", async () => {
    const empty = join(emptyFolder(), "empty")
    writeFileSync(`${empty}.jsonl`, "")
    const ran = await spawned(scene({ replay: empty }))
    expect([ran.code, document(ran)]).toMatchObject([1, { status: "failed" }])
  })

  test("what may pass is tried again, each attempt with its own log, until it works", async () => {
    const of = scene({ failFirst: { times: 2, failure: "overload" } })
    expect(document(await spawned(of))).toMatchObject({ status: "succeeded", report: "Pretend answer." })
    expect(of.pretend.calls()).toHaveLength(3)
    const logs = readdirSync(join(of.cwd, ".meridian/.spaces/s1/runs/r1")).filter((file) =>
      file.startsWith("output"),
    )
    expect(logs.toSorted()).toEqual(["output.attempt-2.jsonl", "output.attempt-3.jsonl", "output.jsonl"])
  })

  test.each(["authentication", "context_overflow"] as const)("%s is not tried again", async (failure) => {
    const of = scene({ failFirst: { times: 9, failure } })
    expect(await spawned(of)).toMatchObject({ code: 1 })
    expect(of.pretend.calls()).toHaveLength(1)
  })

  test("a conversation on a terminal is recorded with the id it chose, and continued by it", async () => {
    const of = scene({})
    await of.run("start", "-m", model)
    const session = of.pretend.calls()[0]?.session ?? "none"
    const log = readFileSync(join(of.cwd, ".meridian/.spaces/s1/sessions.jsonl"), "utf8")
    expect(log).toContain(`"harness_session_id":"${session}"`)
    await of.run("start", "--continue")
    expect(of.pretend.calls().at(-1)).toMatchObject({ mode: "interactive", session })
  })
})

test("a thread of codex reports totals; each run of it, forks too, is recorded with its own part", async () => {
  const { scene, spawned } = sceneOf(["codex", "codex"])
  const recording = (name: string): PretendBehaviour => ({
    replay: join(import.meta.dirname, `../fixture/recordings/codex-${name}`),
  })
  const of = scene(recording("text"))
  await spawned(of)
  const runs = [
    ["resume", "r1"],
    ["resume-last", "r2"],
    ["fork", "r3", "--fork"],
  ] as const
  for (const [name, id, ...flags] of runs) {
    of.pretend.behave(recording(name))
    const ran = await of.run("run", "continue", id, ...flags, "-p", "Go on.", "--space", "s1", "--json")
    expect(document(ran)).toMatchObject({ input_tokens: 1300, cached_input_tokens: 0, output_tokens: 4 })
  }
})

test("a flag that was left out is warned about once, not at every continuation", async () => {
  const { scene } = sceneOf(["codex", "codex"])
  const of = scene({})
  const first = await of.run("start", "-m", "codex", "--append-system-prompt", "x", "--", "--search", "hello")
  const again = await of.run("start", "--continue")
  expect([first, again].map(({ stderr }) => stderr.includes("UNSUPPORTED_FLAG"))).toEqual([true, false])
  expect(of.pretend.calls().map(({ argv }) => argv.slice(argv.indexOf("--search")))).toEqual([
    ["--search", "hello"],
    ["--search", "resume", of.pretend.calls()[0]?.session],
  ])
})

/** Waits until the harness of a background run has started. */
const seen = async ({ pretend, run }: Scene): Promise<void> => {
  while (pretend.calls().length === 0) await run("run", "show", "r1", "--space", "s1")
}
