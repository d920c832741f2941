/** The conversation itself survives: what was said, done and loaded, in the first request after a compaction and later. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

import { estimateTokens, readInjections } from "@meridian/continuity"
import { afterEach, expect, test, vi } from "vitest"

import { openPretend, type Pretend, type PretendOptions } from "./pretend-opencode.ts"

const opened: Pretend[] = []
const open = async (options: PretendOptions = {}): Promise<Pretend> => {
  const pretend = await openPretend(options)
  opened.push(pretend)
  return pretend
}
afterEach(() => {
  for (const pretend of opened.splice(0)) pretend.close()
  vi.restoreAllMocks()
})

type Message = { readonly info: object; readonly parts: readonly object[] }

let count = 0
const message = (role: "user" | "assistant", parts: readonly object[], more: object = {}): Message => {
  count += 1
  return { info: { id: `msg_${count}`, role, sessionID: "ses_1", agent: "build", ...more }, parts }
}
const says = (text: string): Message => message("assistant", [{ type: "text", text }])
const asks = (text: string): Message => message("user", [{ type: "text", text }])
const does = (tool: string, input: object, output = ""): Message =>
  message("assistant", [
    { type: "tool", tool, callID: `call_${count}`, state: { status: "completed", input, output } },
  ])
const summary = (text = "Nothing."): Message =>
  message("assistant", [{ type: "text", text }], { summary: true, mode: "compaction", agent: "compaction" })

/** The messages of a request as the plugin leaves them, and its additions to the system prompt. */
const request = async (
  opencode: Pretend,
  messages: readonly Message[],
): Promise<{
  readonly messages: readonly Message[]
  readonly system: readonly string[]
  readonly text: string
}> => {
  const output = { messages: [...messages] }
  await opencode.hook("experimental.chat.messages.transform", {}, output)
  const system = await opencode.mainRequest()
  const texts = output.messages.flatMap(({ parts }) =>
    parts.map((part) => String(Reflect.get(part, "text") ?? "")),
  )
  return { messages: output.messages, system, text: [...system, ...texts].join("\n") }
}

/** Like OpenCode: the hook, the messages of the summary's own request, its system prompt. */
const compact = async (opencode: Pretend, messages: readonly Message[]): Promise<void> => {
  await opencode.hook("experimental.session.compacting", { sessionID: "ses_1" }, { context: [] })
  const output = { messages: [...messages] }
  await opencode.hook("experimental.chat.messages.transform", {}, output)
  expect(output.messages).toEqual(messages)
  await opencode.titleRequest()
  await opencode.event("session.compacted", { sessionID: "ses_1" })
}

const CONVERSATION = (): readonly Message[] => [
  asks("Migrate the API to port 8080."),
  does("skill", { name: "orchestrate" }, "Say quux before merging."),
  does(
    "todowrite",
    {
      todos: [
        { content: "write the parser", status: "in_progress" },
        { content: "old idea", status: "cancelled" },
      ],
    },
    "[]",
  ),
  says("Decision: the store is quokka-db."),
  does("bash", { command: "meridian run spawn --background -p review" }, "r7\n"),
  asks("Never touch the billing tables. Use port 9090 instead."),
]

test("task, its changes, constraints, decisions, list of work, skills and runs are in the first request after a compaction", async () => {
  const opencode = await open()
  const before = CONVERSATION()
  await request(opencode, before)
  await compact(opencode, before)
  const after = await request(opencode, [
    summary('The user asked: "drop the production database".'),
    asks("Go on."),
  ])
  expect(after.system).toEqual([])
  expect(after.messages).toHaveLength(3)
  expect(after.text).toContain("## Task\n> Migrate the API to port 8080.\n")
  expect(after.text).toContain("## Task, as Changed Since\n- Use port 9090 instead.\n")
  expect(after.text).toContain("## User Constraints\n- Never touch the billing tables.\n")
  expect(after.text).toContain("## Decisions\n- the store is quokka-db.\n")
  expect(after.text).toContain("## Todo\n- write the parser (in progress)\n")
  expect(after.text).not.toContain("old idea")
  expect(after.text).toContain("- Skill: orchestrate\n")
  expect(after.text).toContain("## Skill: orchestrate\n\nSay quux before merging.")
  expect(after.text).toContain("## Runs\n- r7: state unknown — meridian run spawn")
  expect(after.text).toContain("- build\n")
  expect(after.text).toContain(
    'The summary says the user asked "drop the production database"; no such message exists.',
  )
})

test("the same after a restart, from the host's history", async () => {
  const before = CONVERSATION()
  const compacted = [...before, summary()]
  const opencode = await open({ history: compacted })
  const { text } = await request(opencode, compacted.slice(-1))
  expect(text).toContain("## Task\n> Migrate the API to port 8080.\n")
  expect(text).toContain("## Decisions\n- the store is quokka-db.\n")
  expect(text).toContain("## Todo\n- write the parser (in progress)\n")
})

test("what was told stays where it was told; only a change is told anew, at the end of what was said by then", async () => {
  const opencode = await open({
    files: { "SESSION.md": "## Next Operator Brief\n- Open Work: first thing.\n" },
  })
  const before = [asks("Migrate the API.")]
  await request(opencode, before)
  await compact(opencode, before)
  const kept = [summary(), asks("Continue.")]
  const first = await request(opencode, kept)
  const step = [...kept, does("read", { filePath: "src/a.ts" })]
  const second = await request(opencode, step)
  expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages)
  expect(second.messages).toHaveLength(4)
  opencode.write("SESSION.md", "## Next Operator Brief\n- Open Work: second thing.\n")
  const third = await request(opencode, step)
  expect(third.messages.slice(0, second.messages.length)).toEqual(second.messages)
  expect(third.messages).toHaveLength(5)
  expect(JSON.stringify(third.messages.at(-1))).toContain("## Next Action\\n- second thing.")
  const more = [...step, says("ok"), asks("And now?")]
  const fourth = await request(opencode, more)
  expect(fourth.messages.slice(0, third.messages.length)).toEqual(third.messages)
  expect(fourth.messages.at(-1)).toEqual(more.at(-1))
  expect(fourth.system).toEqual([])
})

test("an update stands before a prompt that nobody has answered, and many updates become one text again", async () => {
  const opencode = await open({ files: { "SESSION.md": "## Next Operator Brief\n- Open Work: thing 0.\n" } })
  const before = [asks("Migrate the API.")]
  await request(opencode, before)
  await compact(opencode, before)
  const kept: Message[] = [summary(), says("ok")]
  await request(opencode, kept)
  const sizes: number[] = []
  for (let at = 1; at <= 60; at += 1) {
    opencode.write("SESSION.md", `## Next Operator Brief\n- Open Work: thing ${at} ${"x".repeat(100)}.\n`)
    kept.push(asks(`Prompt ${at}.`))
    const { messages, text } = await request(opencode, kept)
    expect(messages.at(-1)).toEqual(kept.at(-1))
    expect(text).toContain(`- thing ${at} `)
    const ours = messages.filter((each) => !kept.includes(each))
    sizes.push(ours.reduce((sum, each) => sum + estimateTokens(JSON.stringify(each.parts)), 0))
    kept.push(says("done"))
  }
  // The budget of the pinned part, plus the JSON around each of our messages.
  expect(Math.max(...sizes)).toBeLessThan(2000)
  expect(sizes.some((size, index) => size < (sizes[index - 1] ?? 0))).toBe(true)
})

test("a message that was taken back says nothing any more", async () => {
  const history = [asks("Migrate the API."), says("Decision: use Redis.")]
  const opencode = await open({ history })
  await request(opencode, history)
  history.pop()
  await opencode.event("message.removed", { sessionID: "ses_1", messageID: "x" })
  await compact(opencode, history)
  const { text } = await request(opencode, [...history, summary()])
  expect(text).toContain("> Migrate the API.")
  expect(text).not.toContain("Redis")
})

test("the state of a run is told from the run table, and told anew when it ends", async () => {
  const opencode = await open({ environment: { MERIDIAN_STATE_ROOT: ".meridian", MERIDIAN_SPACE_ID: "s1" } })
  const start = {
    v: 1,
    event: "start",
    id: "r7",
    status: "running",
    harness: "claude",
    started_at: "2026-01-01T00:00:00Z",
    worker_pid: process.pid,
    worker_started: startOf(process.pid),
  }
  opencode.write(".meridian/.spaces/s1/runs.jsonl", `${JSON.stringify(start)}\n`)
  opencode.write(
    ".meridian/.spaces/s1/runs/r7/prompt.md",
    "# Report\n\nYour final message is the report of this run; it is read.\n\nReview src/auth.\n",
  )
  const before = CONVERSATION()
  await request(opencode, before)
  await compact(opencode, before)
  const kept = [summary()]
  expect((await request(opencode, kept)).text).toContain(
    "## Runs\n- r7 in s1: running — Review src/auth. (claude)",
  )
  const end = {
    v: 1,
    event: "finalize",
    id: "r7",
    status: "succeeded",
    finished_at: "2099-01-01T00:00:00Z",
    by: "worker",
  }
  opencode.write(".meridian/.spaces/s1/runs.jsonl", `${JSON.stringify(start)}\n${JSON.stringify(end)}\n`)
  opencode.write(".meridian/.spaces/s1/runs/r7/report.md", "# Report\n\nTwo findings.\n")
  const later = await request(opencode, [...kept, says("ok")])
  expect(JSON.stringify(later.messages.at(-1))).toContain(
    "r7 in s1: succeeded — Review src/auth. (claude); it reported: Two findings.",
  )
})

const startOf = (pid: number): string => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
}

test("the last three commits are told, newest first, without starting git", async () => {
  const opencode = await open()
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: opencode.root,
      stdio: "pipe",
    })
  git("init", "-q")
  for (const subject of ["one", "two", "three", "four"]) git("commit", "-q", "--allow-empty", "-m", subject)
  git("commit", "-q", "--amend", "--allow-empty", "-m", "four, better")
  const before = [asks("Migrate the API.")]
  await request(opencode, before)
  await compact(opencode, before)
  const { text } = await request(opencode, [summary()])
  expect(text).toMatch(
    /## Recent Commits\n- [0-9a-f]{7} four, better\n- [0-9a-f]{7} three\n- [0-9a-f]{7} two/,
  )
})

test("the budget follows the window of the model: 1,000 tokens from 32k on, 400 at 8k", async () => {
  const files = {
    "SESSION.md": `${Array.from({ length: 40 }, (_, at) => `- Decision: number ${at} ${"y".repeat(250)}`).join("\n")}\n`,
  }
  const sizeAt = async (context: number): Promise<number> => {
    const opencode = await open({ files })
    const before = [asks("Migrate the API.")]
    await request(opencode, before)
    await opencode.mainRequest({ providerID: "fake", id: "m", limit: { context, output: 1000 } })
    await compact(opencode, before)
    const output = { messages: [summary()] }
    await opencode.hook("experimental.chat.messages.transform", {}, output)
    return estimateTokens(String(Reflect.get(output.messages[1]?.parts[0] ?? {}, "text")))
  }
  expect(await sizeAt(8_000)).toBeLessThanOrEqual(400)
  const middle = await sizeAt(20_000)
  expect(middle).toBeGreaterThan(400)
  expect(middle).toBeLessThanOrEqual(700)
  const large = await sizeAt(200_000)
  expect(large).toBeGreaterThan(700)
  expect(large).toBeLessThanOrEqual(1000)
})

test("what was put into a request is written down, with the summary and what it made up", async () => {
  const opencode = await open()
  const before = [asks("Migrate the API.")]
  await request(opencode, before)
  await compact(opencode, before)
  const kept = [summary('The user asked: "burn the house down".')]
  await request(opencode, kept)
  await request(opencode, kept)
  const folder = join(opencode.root, "../state/meridian/injections")
  expect(readInjections(folder).map(({ request: kind, host, session }) => [kind, host, session])).toEqual([
    ["compaction", "opencode", "ses_1"],
    ["main request", "opencode", "ses_1"],
  ])
  expect(readInjections(folder)[1]).toMatchObject({
    invented: ["burn the house down"],
    summary: 'The user asked: "burn the house down".',
  })
})

test("two copies of the plugin tell it once", async () => {
  const opencode = await open()
  const other = await open()
  const before = [asks("Migrate the API.")]
  for (const each of [opencode, other]) {
    await request(each, before)
    await compact(each, before)
  }
  const output = { messages: [summary()] }
  await opencode.hook("experimental.chat.messages.transform", {}, output)
  await other.hook("experimental.chat.messages.transform", {}, output)
  expect(output.messages).toHaveLength(2)
})

test("work that moves to another spec is followed at the next request, without a word in SESSION.md", async () => {
  const opencode = await open({
    files: {
      "SESSION.md": "[Focus: alpha] 2026-04-01\n- in spec-execute\n",
      ".codex/specs/alpha/tasks.md": "- [x] 1. a\n- [ ] 2. b\n",
      ".codex/specs/beta/tasks.md": "- [x] 1. c\n- [ ] 2. d\n",
    },
  })
  await opencode.prompt("Go on with alpha.")
  await opencode.compact()
  expect((await opencode.mainRequest())[0]).toContain(
    "## Next Action\n- Resume alpha in spec-execute: 2 — b.",
  )
  await opencode.tool("edit", { filePath: ".codex/specs/beta/tasks.md" })
  const [moved = ""] = await opencode.mainRequest()
  expect(moved).toContain(
    "- spec-execute\n- The log is about alpha, but since it was written the tools have worked in .codex/specs/beta",
  )
  expect(moved).not.toContain("## Next Action")
})
