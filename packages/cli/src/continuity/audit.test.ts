/** Findings of an audit of 0.1.0 about the hooks, one test for each, under its id. D13: `install-host.test.ts`. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { answerHook } from "./answer-hook.ts"

let folder = ""
let project = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "meridian-audit-"))
  project = join(folder, "project")
  mkdirSync(join(project, ".git"), { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (path: string, text: string): void => {
  const full = join(project, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
}
const line = (value: object): string => `${JSON.stringify(value)}\n`
const SESSION = "0f0e0d0c-1111-4222-8333-444455556666"

const user = (uuid: string, parentUuid: string | null, text: string): string =>
  line({
    type: "user",
    uuid,
    parentUuid,
    sessionId: SESSION,
    cwd: project,
    message: { role: "user", content: text },
  })
const tool = (uuid: string, parentUuid: string, name: string, input: object): string =>
  line({
    type: "assistant",
    uuid,
    parentUuid,
    sessionId: SESSION,
    message: { id: `m-${uuid}`, role: "assistant", content: [{ type: "tool_use", id: uuid, name, input }] },
  })
const result = (uuid: string, parentUuid: string, content: string): string =>
  line({
    type: "user",
    uuid,
    parentUuid,
    sessionId: SESSION,
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: parentUuid, content }] },
  })

/** The output of a Claude Code hook after a compaction of a conversation with this transcript. */
const after = async (transcript: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const path = join(folder, `${SESSION}.jsonl`)
  writeFileSync(path, transcript)
  const { text } = await answerHook({
    host: "claude",
    cwd: project,
    env: { HOME: join(folder, "home"), ...env },
    now: () => new Date(0),
    clock: () => 0,
    input: {
      event: "SessionStart",
      session: SESSION,
      transcript: path,
      cwd: project,
      source: "compact",
      model: undefined,
      summary: undefined,
    },
  })
  return text
}

const startRun = (more: object = {}): string =>
  line({
    v: 1,
    event: "start",
    id: "r7",
    chat_id: "c1",
    harness: "codex",
    started_at: "2026-03-01T00:00:00Z",
    task: "review the parser",
    ...more,
  })

test("D2: the task of a run is stated even if the transcript is empty, and nothing is stated if nothing is known", async () => {
  expect(await after("")).toBe("")
  write(
    ".meridian/.spaces/s1/sessions.jsonl",
    line({
      v: 1,
      event: "start",
      chat_id: "c1",
      run_id: "r1",
      harness: "claude",
      harness_session_id: SESSION,
      started_at: "2026-03-01T00:00:00Z",
      task: "Migrate the API.",
    }),
  )
  const text = await after("", {
    MERIDIAN_STATE_ROOT: join(project, ".meridian"),
    MERIDIAN_SPACE_ID: "s1",
  })
  expect(text).toContain("## Task\n> Migrate the API.")
  expect(text).not.toMatch(/none recorded|SESSION\.md/)
})

test("what was done before a takeover is also stated after the agent's compactions, in its newest version", async () => {
  write(
    ".meridian/.spaces/s1/sessions.jsonl",
    line({
      v: 1,
      event: "start",
      chat_id: "c2",
      run_id: "r1",
      harness: "claude",
      harness_session_id: SESSION,
      started_at: "2026-03-01T00:00:00Z",
      task: "Migrate the API.",
    }),
  )
  const runFolder = ".meridian/.spaces/s1/runs/r1"
  write(`${runFolder}/handover.attempt-2.md`, "# What was done before\n\nNothing yet.\n")
  write(`${runFolder}/handover.attempt-10.md`, "# What was done before\n\nThe lexer is finished.\n")
  write(`${runFolder}/handover.attempt-11.md.swp`, "Torn.\n")
  const text = await after("", {
    MERIDIAN_STATE_ROOT: join(project, ".meridian"),
    MERIDIAN_SPACE_ID: "s1",
  })
  expect(text).toContain("## Before you took over\n\nThe lexer is finished.")
  expect(text).not.toMatch(/Nothing yet|Torn/)
})

test("D3: the first prompt appears beside a declared objective and does not displace it", async () => {
  write("SESSION.md", "[Focus: search] 2026-04-01\n- Objective: ship the search.\n- Did one thing.\n")
  const text = await after(user("a", null, "Fix the parser first."))
  expect(text).toContain("## Task\n> Fix the parser first.")
  expect(text).toMatch(/## Primary Objective\n- ship the search\./i)
})

test("D11: a run is stated with its state from the run table, and an ended one with its report", async () => {
  const transcript =
    user("a", null, "Review everything.") +
    tool("b", "a", "Bash", { command: "meridian run spawn --background -p review" }) +
    result("c", "b", "r7\n")
  write(".meridian/.spaces/s1/runs.jsonl", startRun())
  const env = {
    MERIDIAN_STATE_ROOT: join(project, ".meridian"),
    MERIDIAN_SPACE_ID: "s1",
    MERIDIAN_CHAT_ID: "c1",
  }
  expect(await after(transcript, env)).toMatch(/## Runs\n- r7.*: running/)
  write(
    ".meridian/.spaces/s1/runs.jsonl",
    startRun() +
      line({ v: 1, event: "finalize", id: "r7", status: "succeeded", finished_at: "2026-03-01T00:01:00Z" }),
  )
  write(".meridian/.spaces/s1/runs/r7/report.md", "Two findings.\nMore.\n")
  const ended = await after(transcript, env)
  expect(ended).toMatch(/## Runs\n- r7.*: succeeded.*Two findings\./)
})

test("D12: rules of every folder are read in this host too", async () => {
  for (const name of [".meridian", ".opencode", ".claude"]) write(`${name}/rules/own.md`, `From ${name}.`)
  write("../home/.config/opencode/rules/mine.md", "From the user.")
  const text = await after(user("a", null, "Go."))
  for (const from of [".meridian", ".opencode", ".claude", "the user"])
    expect(text).toContain(`From ${from}.`)
})

test("S8: the last three commits are listed", async () => {
  const git = (...args: readonly string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], { cwd: project })
  }
  rmSync(join(project, ".git"), { recursive: true })
  git("init", "-q")
  for (const subject of ["one", "two", "three", "four"]) git("commit", "-q", "--allow-empty", "-m", subject)
  const text = await after(user("a", null, "Go."))
  expect(text).toMatch(/## Recent Commits\n- \S+ four\n- \S+ three\n- \S+ two\n/)
})
