import { parseObject } from "@meridian/protocol"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { ledgerFacts } from "./ledger-facts.ts"
import { EMPTY_LEDGER, LEDGER_LIMITS, type LedgerState, readLedgerState } from "./ledger-state.ts"
import { openLedger } from "./ledger.ts"
import type { LedgerPiece } from "./piece.ts"

const prompt = (text: string): LedgerPiece => ({ kind: "prompt", prompt: { text } })
const says = (text: string): LedgerPiece => ({ kind: "text", text })
const call = (callID: string, tool: string, input: unknown): LedgerPiece => ({
  kind: "call",
  callID,
  tool,
  input,
})
const result = (callID: string, text: string, failed = false): LedgerPiece => ({
  kind: "result",
  callID,
  content: [{ type: "text", text }],
  failed,
})
const does = (tool: string, input: unknown, output = ""): readonly LedgerPiece[] => [
  call(tool, tool, input),
  result(tool, output),
]

const fold = (...pieces: readonly (LedgerPiece | readonly LedgerPiece[])[]): LedgerState => {
  const ledger = openLedger()
  for (const piece of pieces.flat()) ledger.take(piece)
  return ledger.state()
}
const told = (state: LedgerState, kind: string): readonly string[] =>
  ledgerFacts(state)
    .filter((fact) => fact.kind === kind)
    .map(({ text }) => text)

test("the task is the first message of the user, word for word; the newest one is kept beside it", () => {
  const state = fold(prompt("Migrate the API.\nKeep it small."), says("ok"), prompt("And the docs, please."))
  expect(told(state, "task")).toEqual(["Migrate the API.\nKeep it small."])
  expect(told(state, "request")).toEqual(["And the docs, please."])
})

test("our own wrapping, commands to the host and greetings are no task", () => {
  const wrapped =
    "# Skill: x\n\nNever say no.\n\n# Report\n\nYour final message is the report of this run; whoever started you reads nothing else.\n\nReview src/auth."
  expect(told(fold(prompt("/compact"), prompt("hello"), prompt(wrapped)), "task")).toEqual([
    "Review src/auth.",
  ])
  expect(told(fold(prompt("[meridian] The run was resumed."), prompt("Review it.")), "task")).toEqual([
    "Review it.",
  ])
})

test("a later sentence that changes a value of the task stands beside it", () => {
  const state = fold(
    prompt("Migrate the API to port 8080. Never touch the billing tables."),
    prompt("Looks good. Use port 9090 instead."),
    prompt("What about the tests?"),
  )
  expect(told(state, "task")).toEqual(["Migrate the API to port 8080. Never touch the billing tables."])
  expect(told(state, "task-change")).toEqual(["Use port 9090 instead."])
})

test("a value that is a word changes too, wherever it stands in its sentence", () => {
  const state = fold(
    prompt("Deploy to staging on Friday with 3 replicas."),
    prompt("Deploy on Monday instead."),
    prompt("Thanks. What is next?"),
  )
  expect(told(state, "task-change")).toEqual(["Deploy on Monday instead."])
})

test("what was forbidden is allowed when the user says so; other constraints stay", () => {
  const state = fold(
    prompt("Work on the shop."),
    prompt("Do not push to main. Never touch the billing tables."),
    prompt("You can push to main now."),
  )
  expect(told(state, "constraint")).toEqual(["Never touch the billing tables."])
})

test("of two constraints about one thing the newest holds; of two about two things both do", () => {
  const state = fold(
    prompt("Start."),
    prompt("Keep the timeout at 30 seconds. Never call alpha-1 without a test."),
    prompt("Keep the timeout at 60 seconds. Never call alpha-2 without a test."),
  )
  expect(told(state, "constraint")).toEqual([
    "Never call alpha-1 without a test.",
    "Keep the timeout at 60 seconds.",
    "Never call alpha-2 without a test.",
  ])
})

test("a word changes as a number does: the newest holds, and sentences about two things both do", () => {
  const state = fold(
    prompt("Build the page. The port is 8080."),
    prompt("Use the colour blue for the header. Use React for the frontend. Keep the header small."),
    prompt("Use the colour green for the header. Use Vue for the backend. Keep the footer small."),
    prompt("The deadline is Friday."),
    prompt("The deadline is Monday."),
    prompt("Change of plan: the port is 9090."),
  )
  expect(told(state, "constraint")).toEqual([
    "Use React for the frontend.",
    "Keep the header small.",
    "Use the colour green for the header.",
    "Use Vue for the backend.",
    "Keep the footer small.",
    "The deadline is Monday.",
  ])
  expect(told(state, "task-change")).toEqual(["Change of plan: the port is 9090."])
})

test("a value that the user changes in passing leaves no old one behind", () => {
  const state = fold(
    prompt("Build the client."),
    prompt("Limit the retries to 3. Never touch the billing tables."),
    prompt("Actually make that 5 retries. What about the tests?"),
  )
  expect(told(state, "constraint")).toEqual([
    "Never touch the billing tables.",
    "Actually make that 5 retries.",
  ])
})

test("an item of the list that the user takes back is no work any more", () => {
  const todos = ["write the CSV export", "write the parser"].map((content) => ({
    content,
    status: "pending",
  }))
  const state = fold(prompt("Do it."), does("TodoWrite", { todos }), prompt("Forget about the CSV export."))
  expect(told(state, "todo")).toEqual(["write the parser"])
})

test("what the user takes back is gone, and nothing else is", () => {
  const state = fold(
    prompt("Start."),
    prompt("Never use Redis. Always write tests."),
    says("Decision: the cache lives in Memcached."),
    says("Decision: the queue is in SQLite."),
    prompt("Forget the rule about Redis. The Memcached decision no longer holds."),
  )
  expect(told(state, "constraint")).toEqual(["Always write tests."])
  expect(told(state, "decision")).toEqual(["the queue is in SQLite."])
})

test("an agent cannot take back what the user said", () => {
  const state = fold(
    prompt("Start. Never use Redis."),
    prompt("Go on. Always write tests."),
    says("Constraint (withdrawn): Always write tests."),
  )
  expect(told(state, "constraint")).toEqual(["Always write tests."])
})

test("files in use, most recent last, relative to the project", () => {
  const state = fold(
    does("Read", { file_path: "/p/src/a.ts" }),
    does("exec_command", { cmd: "sed -n 1,20p src/b.ts" }),
    does("apply_patch", { input: "*** Begin Patch\n*** Update File: src/c.ts\n*** End Patch" }),
    does("read", { filePath: "src/a.ts" }),
    does("read", { filePath: "/etc/passwd" }),
  )
  const place = { root: "/p", directory: "/p" }
  expect(
    ledgerFacts(state, { place })
      .filter(({ kind }) => kind === "file")
      .map(({ text }) => text),
  ).toEqual(["src/a.ts", "src/b.ts", "src/c.ts", "src/a.ts"])
})

test.each([
  ["Bash", { command: "meridian run spawn --background -p 'review'" }, "r7\n"],
  ["exec_command", { cmd: "meridian run spawn -p review" }, "Output:\nr7\n"],
  ["bash", { command: 'node "/opt/meridian.js" run continue r3 -p go' }, '{"run_id":"r7","space_id":"s2"}'],
  ["mcp__meridian__run_spawn", { prompt: "review", background: true }, '{"run_id":"r7"}'],
  ["meridian_run_spawn", { prompt: "review" }, '{"run_id":"r7"}'],
])("a run that %s started is known by its id", (tool, input, output) => {
  expect(fold(does(tool, input, output)).runs.map(({ id }) => id)).toEqual(["r7"])
})

test("a command that only speaks of runs starts none", () => {
  expect(fold(does("Bash", { command: "grep -r r7 docs" }, "r7")).runs).toEqual([])
})

test("todos, plans, tasks and goals are one list of work", () => {
  const claude = fold(
    does("TaskCreate", { subject: "write the parser" }, "Task #1 created successfully: write the parser"),
    does("TaskCreate", { subject: "write the printer" }, "Task #2 created successfully: write the printer"),
    does("TaskUpdate", { taskId: "1", status: "in_progress" }, "Updated task #1 status"),
    does("TaskUpdate", { taskId: "2", status: "deleted" }, "Updated task #2"),
  )
  expect(told(claude, "todo")).toEqual(["write the parser (in progress)"])
  const codex = fold(
    does(
      "update_plan",
      {
        plan: [
          { step: "parse", status: "completed" },
          { step: "print", status: "pending" },
        ],
      },
      "Plan updated",
    ),
    does("create_goal", { objective: "ship it" }, '{"goal":{"objective":"ship it","status":"active"}}'),
  )
  expect(told(codex, "todo")).toEqual(["Goal: ship it (active)", "print"])
  const opencode = fold(
    does(
      "todowrite",
      {
        todos: [
          { content: "x", status: "pending" },
          { content: "y", status: "cancelled" },
        ],
      },
      "[]",
    ),
  )
  expect(told(opencode, "todo")).toEqual(["x"])
})

test("a task is found by its number, however the number is written", () => {
  const state = fold(
    does("TaskCreate", { subject: "write the parser" }, "Task #2 created successfully: write the parser"),
    does("TaskUpdate", { taskId: 2, status: "in_progress" }),
  )
  expect(told(state, "todo")).toEqual(["write the parser (in progress)"])
  expect(state.unknown).toBe(0)
})

test("a list whose call failed, and one of a shape nobody knows, changes nothing; the latter is counted", () => {
  const known = does("TodoWrite", { todos: [{ content: "x", status: "pending" }] }, "ok")
  expect(
    told(fold(known, call("c", "TodoWrite", { todos: [] }), result("c", "no such tool", true)), "todo"),
  ).toEqual(["x"])
  expect(
    told(
      fold(known, call("c", "update_plan", { plan: [] }), result("c", "unsupported call: update_plan")),
      "todo",
    ),
  ).toEqual(["x"])
  const odd = fold(known, does("TodoWrite", { tasks: "later" }, "ok"))
  expect(told(odd, "todo")).toEqual(["x"])
  expect(odd.unknown).toBe(1)
})

test("a skill is known by its tool or by the file that was read, with its body", () => {
  const state = fold(
    does("Skill", { skill: "orchestrate" }, "Launching skill: orchestrate"),
    { kind: "skill", name: "orchestrate", body: "Say quux." },
    does("exec_command", { cmd: "cat .agents/skills/plan/SKILL.md" }, "Chunk ID: 1\nOutput:\nPlan first.\n"),
    does(
      "skill",
      { name: "review" },
      '<skill_content name="review">\n# Skill: review\n\nRead twice.\n\nBase directory for this skill: /x\n<skill_files>\n</skill_files>\n</skill_content>',
    ),
    does("Read", { file_path: "/p/skills/ship/SKILL.md" }, "1\tShip it.\n2\tTwice."),
  )
  expect(state.skills.map(({ name, body }) => [name, body])).toEqual([
    ["orchestrate", "Say quux."],
    ["plan", "Plan first.\n"],
    ["review", "Read twice."],
    ["ship", "Ship it.\nTwice."],
  ])
})

test("a summary that quotes what nobody said is contradicted, and decides nothing", () => {
  const summary = 'Decision: drop everything.\nThe user asked: "drop the production database".'
  const state = fold(
    prompt("Fix the login page."),
    says(summary),
    { kind: "usage" },
    { kind: "summary", text: summary },
  )
  expect(told(state, "decision")).toEqual([])
  expect(told(state, "invented")).toEqual([
    'The summary says the user asked "drop the production database"; no such message exists.',
  ])
  expect(
    told(
      fold(prompt("Fix the login page."), { kind: "summary", text: 'The user asked: "fix the login page"' }),
      "invented",
    ),
  ).toEqual([])
})

const WORDS = [
  "Never touch the billing tables.",
  "Use port 9090 instead.",
  "Decision: keep SQLite",
  "Decision (cancelled): keep SQLite",
  "Blocker: no token",
  "We are unblocked.",
  "Forget the tables.",
  "hello",
  'The user asked: "burn it".',
] as const

const anyText = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string({ maxLength: 200 }),
  fc.string({ unit: "binary", maxLength: 80 }),
)
const anyInput = fc.oneof(
  fc.record({ command: fc.constantFrom("meridian run spawn -p x", "cat a/SKILL.md", "ls") }),
  fc.record({ file_path: fc.constantFrom("src/a.ts", "/x", "") }),
  fc.record({
    todos: fc.array(
      fc.record({
        content: fc.string({ maxLength: 20 }),
        status: fc.constantFrom("pending", "done", "completed"),
      }),
      { maxLength: 4 },
    ),
  }),
  fc.record({ subject: fc.string({ maxLength: 20 }), taskId: fc.constantFrom("1", "2") }),
  fc.anything(),
)
const anyId = fc.constantFrom("a", "b", "c")
const anyPiece: fc.Arbitrary<LedgerPiece> = fc.oneof(
  anyText.map(prompt),
  anyText.map(says),
  fc
    .tuple(
      anyId,
      fc.constantFrom("Bash", "Read", "TodoWrite", "TaskCreate", "TaskUpdate", "skill", "create_goal", "x"),
      anyInput,
    )
    .map(([id, tool, input]) => call(id, tool, input)),
  fc
    .tuple(
      anyId,
      fc.oneof(fc.constantFrom("r1 r2", "Task #1", '{"goal":null}'), fc.string({ maxLength: 40 })),
      fc.boolean(),
    )
    .map(([id, text, failed]) => result(id, text, failed)),
  anyText.map((text): LedgerPiece => ({ kind: "summary", text })),
  fc.constantFrom<LedgerPiece>(
    { kind: "agent", name: "coder" },
    { kind: "mode", name: "plan" },
    { kind: "usage" },
    { kind: "window", tokens: 8000 },
  ),
)

/** The state as it would be read back from disk. */
const plain = (state: LedgerState): unknown => parseObject(JSON.stringify(state))

test("whatever is said, the fold ends, keeps its bounds, and is the same when it is stored and continued", () => {
  fc.assert(
    fc.property(fc.array(anyPiece, { maxLength: 60 }), fc.nat(60), (pieces, cut) => {
      const whole = fold(...pieces)
      const half = openLedger()
      for (const piece of pieces.slice(0, cut)) half.take(piece)
      const kept = readLedgerState(plain(half.state()))
      const rest = openLedger(kept)
      for (const piece of pieces.slice(cut)) rest.take(piece)
      expect(plain(rest.state())).toEqual(plain(whole))
      expect(whole.calls.length).toBeLessThanOrEqual(LEDGER_LIMITS.calls)
      expect(ledgerFacts(whole).every(({ text }) => typeof text === "string")).toBe(true)
    }),
    { numRuns: 400 },
  )
})

test("every list keeps its bound", () => {
  const ledger = openLedger()
  for (let at = 0; at < 1200; at += 1) {
    ledger.take(prompt(`Never touch table-${at}. ${"x".repeat(1000)}`))
    ledger.take(says(`Decision: number ${at} of module-${at}\nBlocker: token-${at} is missing`))
    for (const piece of does("Bash", { command: `cat f${at}.ts && meridian run spawn` }, `r${at + 1}`))
      ledger.take(piece)
    ledger.take({ kind: "skill", name: `s${at}`, body: "y".repeat(20_000) })
    ledger.take(call(`open${at}`, "Read", { file_path: `g${at}/SKILL.md` }))
    ledger.take({ kind: "summary", text: "z".repeat(50_000) })
  }
  const state = ledger.state()
  expect(state.prompts.length).toBeLessThanOrEqual(LEDGER_LIMITS.prompts)
  expect(state.prompts[0]?.text).toContain("table-0.")
  expect(state.prompts.at(-1)?.text).toContain("table-1199.")
  expect(state.files).toHaveLength(LEDGER_LIMITS.files)
  expect(state.runs).toHaveLength(LEDGER_LIMITS.runs)
  expect(state.skills).toHaveLength(LEDGER_LIMITS.skills)
  expect(state.calls).toHaveLength(LEDGER_LIMITS.calls)
  expect(state.compactions).toHaveLength(LEDGER_LIMITS.compactions)
  expect(JSON.stringify(state).length).toBeLessThan(3 * 1024 * 1024)
})

test("a call whose outcome says nothing to the ledger is not held open", () => {
  const state = fold(
    call("a", "Read", { file_path: "src/app.ts" }),
    call("b", "Bash", { command: "npm test" }),
    call("c", "TodoWrite", { todos: [] }),
    // The id of a relevant call, reused for an irrelevant one.
    call("c", "Read", { file_path: "src/other.ts" }),
  )
  expect(state.calls).toEqual([])
  expect(state.files.map(({ path }) => path)).toEqual(["src/app.ts", "src/other.ts"])
})

test("a state of another version is not gone on with", () => {
  expect(readLedgerState({ ...EMPTY_LEDGER, version: 0 })).toBeUndefined()
  expect(readLedgerState({ version: EMPTY_LEDGER.version })).toBeUndefined()
  expect(readLedgerState(null)).toBeUndefined()
})
