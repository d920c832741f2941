/** Session ids read from files that a harness left behind, in shapes that real files have or had. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { harnessSessionId } from "@meridian/protocol"
import { afterAll, expect, test } from "vitest"

import { findRollout, usageInRollout } from "./codex-rollout.ts"
import { findOpencodeSession } from "./opencode-sessions.ts"

const root = mkdtempSync(join(tmpdir(), "meridian-sessions-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const id = (digit: number): string => `0000000${digit}-2222-4333-8444-555555555555`

interface Rollout {
  readonly day: string
  readonly id: string
  readonly payload: object
  /** Seconds since 1970. */
  readonly at: number
  readonly lines?: readonly object[]
}

const codexHome = (...rollouts: readonly Rollout[]): string => {
  const home = mkdtempSync(join(root, "codex-"))
  for (const rollout of rollouts) {
    const folder = join(home, "sessions", rollout.day)
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `rollout-2026-01-01T00-00-00-${rollout.id}.jsonl`)
    const lines = [{ type: "session_meta", payload: rollout.payload }, ...(rollout.lines ?? [])]
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
    utimesSync(file, rollout.at, rollout.at)
  }
  return home
}

const search = (home: string, startedAtMs: number, taken: readonly string[] = []) =>
  findRollout({ cwd: root, environment: { CODEX_HOME: home }, startedAtMs, taken })

test("codex: the newest thread that a person started in this directory is found", async () => {
  const home = codexHome(
    { day: "2026/01/01", id: id(1), payload: { id: id(1), cwd: root, source: "cli" }, at: 1000 },
    { day: "2026/01/02", id: id(2), payload: { id: id(2), cwd: root, source: "cli" }, at: 2000 },
    { day: "2026/01/02", id: id(3), payload: { id: id(3), cwd: root, source: "exec" }, at: 3000 },
    { day: "2026/01/02", id: id(4), payload: { id: id(4), cwd: root, source: { subagent: "x" } }, at: 4000 },
    { day: "2026/01/02", id: id(5), payload: { id: id(5), cwd: "/elsewhere", source: "cli" }, at: 5000 },
  )
  expect(await search(home, 500_000)).toBe(id(2))
  expect(await search(home, 500_000, [id(2)])).toBe(id(1))
  expect(await search(home, 2_500_000)).toBeUndefined()
})

test("codex: a rollout without an id takes it from its file name, and a damaged one has none", async () => {
  const named = codexHome({ day: "2026/01/01", id: id(1), payload: { cwd: root }, at: 1000 })
  expect(await search(named, 0)).toBe(id(1))
  const damaged = codexHome({ day: "2026/01/01", id: id(1), payload: ["no", "object"], at: 1000 })
  expect(await search(damaged, 0)).toBeUndefined()
})

test("codex: the last token count in a rollout is the thread's total, with input excluding cached tokens", async () => {
  const count = (input: number, cached: number, output: number): object => ({
    type: "event_msg",
    payload: {
      type: "token_count",
      info: {
        total_token_usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: output },
      },
    },
  })
  const home = codexHome({
    day: "2026/01/01",
    id: id(1),
    payload: { id: id(1), cwd: root },
    at: 1000,
    lines: [
      count(10, 0, 1),
      { type: "event_msg", payload: { type: "token_count", info: null } },
      count(100, 40, 7),
    ],
  })
  const lookup = (digit: number) =>
    usageInRollout({ id: harnessSessionId(id(digit)), environment: { CODEX_HOME: home } })
  expect(await lookup(1)).toEqual({ inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 })
  expect(await lookup(2)).toBeUndefined()
})

test.each([
  [[{ id: "ses_a", directory: "/project", created: 2000 }], "ses_a"],
  [[{ id: "ses_a", created: 2000 }], "ses_a"],
  [[{ id: "ses_a", directory: "/project", time: { created: 2000 } }], "ses_a"],
  [
    [
      { id: "ses_late", directory: "/project", created: 4000 },
      { id: "ses_first", directory: "/project", created: 2000 },
    ],
    "ses_first",
  ],
  [[{ id: "ses_old", directory: "/project", created: 10 }], undefined],
  [[{ id: "ses_other", directory: "/elsewhere", created: 2000 }], undefined],
  [[{ id: "has blanks", directory: "/project", created: 2000 }], undefined],
  [["no object", null], undefined],
])("opencode: the list %j names %s", async (rows, expected) => {
  const asked: string[] = []
  const found = await findOpencodeSession(
    {
      cwd: "/project",
      environment: { HOME: join(root, "nobody"), PATH: "/bin" },
      startedAtMs: 2500,
      ask: (query) => {
        asked.push(
          [query.command, ...query.args, query.environment["PATH"], query.environment["PWD"]].join(" "),
        )
        return Promise.resolve(JSON.stringify(rows))
      },
    },
    "opencode",
  )
  expect(found).toBe(expected)
  expect(asked).toEqual(["opencode session list --format json -n 50 /bin /project"])
})
