import { expect, test } from "vitest"

import { readSessionState } from "./session-state.ts"

const SAMPLE = `# Session State

[Focus: refactor-auth] 2026-04-01 — Branch \`work/auth\`
- Extracted shared token validation into \`src/auth/validate.ts\`.
- Removed duplicate middleware from \`src/routes/api.ts\`.
- Decision: keep backward-compatible exports from the old location until v3.
- Blockers: none.

Reality Check — tests are green
- not a completed item

## Next Operator Brief

- Open Work: migrate remaining callers of the old \`validateSession()\` to the new utility.
- Pending Tests: integration tests for the new token validator.
- Blockers: none.
`

test("the fields of a log are found where its convention puts them", () => {
  const { scopes, ...state } = readSessionState(SAMPLE)
  expect(state).toEqual({
    focus: "refactor-auth",
    objective: undefined,
    stage: undefined,
    nextActions: [],
    openWork: ["migrate remaining callers of the old `validateSession()` to the new utility."],
    pendingTests: ["integration tests for the new token validator."],
    completed: [
      "Extracted shared token validation into `src/auth/validate.ts`.",
      "Removed duplicate middleware from `src/routes/api.ts`.",
    ],
    decisions: ["Decision: keep backward-compatible exports from the old location until v3."],
    blockers: [],
    openQuestions: [],
    approvals: [],
    awaited: [],
  })
  expect(scopes[0]?.[0]).toBe("refactor-auth 2026-04-01 — Branch `work/auth`")
})

test("a mark at the start and carriage returns make no difference", () => {
  const plain = readSessionState(SAMPLE)
  expect(readSessionState(`\ufeff${SAMPLE}`)).toEqual(plain)
  expect(readSessionState(SAMPLE.replaceAll("\n", "\r\n"))).toEqual(plain)
})

test.each([
  ["bold with the colon inside", "**Open Work:** the thing"],
  ["bold with the colon outside", "- **Open Work**: the thing"],
  ["underscores", "__Open Work__: the thing"],
  ["a star bullet", "* Open Work: the thing"],
  ["a plus bullet", "+ Open Work: the thing"],
  ["a numbered bullet", "1. Open Work: the thing"],
  ["a numbered bullet with a bracket", "2) *Open Work:* the thing"],
  ["indentation", "    - Open Work: the thing"],
  ["a tab", "\t- open work:   the thing"],
  ["no bullet", "OPEN WORK: the thing"],
  ["a dash", "- Open Work — the thing"],
  ["a value over two lines", "- Open Work: the\n  thing"],
  ["a value as nested bullet", "- Open Work:\n  - the thing"],
  ["a label on its own line", "Open Work:\n\n- the thing"],
  ["a bold label on its own line", "**Open Work**\n- the thing"],
  ["a heading", "## Open Work\n\nthe thing"],
  ["a deep heading with a bullet", "#### Open Work:\n* the thing"],
])("open work is read from %s", (_, text) => {
  expect(readSessionState(`# Session\n\n[Focus: a] 2026-01-01\n- did it\n\n${text}\n`).openWork).toEqual([
    "the thing",
  ])
})

test("an empty field does not take the next one as its value", () => {
  const state = readSessionState("- Open Work:\n- Pending Tests: all\n- Blockers:\n- Next Action: go\n")
  expect([state.openWork, state.pendingTests, state.blockers, state.nextActions]).toEqual([
    [],
    ["all"],
    [],
    ["go"],
  ])
})

test("a label nobody knows ends the value before it, unless it is part of it", () => {
  const state = readSessionState(
    "**Focus:** checkout\n**Status:** fine\n\n- Open Work: first\n  Rationale: second\n\nGoal: third\nOwner: me\n",
  )
  expect([state.focus, state.openWork, state.objective]).toEqual([
    "checkout",
    ["first Rationale: second"],
    "third",
  ])
})

test("all bullets under a heading are taken, done ones as completed", () => {
  const state = readSessionState(
    "## Open Work\n- [x] one\n- [ ] two\n  - [ ] three\n\n## Blockers\n1. a key is missing\n2. none\n",
  )
  expect([state.openWork, state.completed, state.blockers]).toEqual([
    ["two", "three"],
    ["one"],
    ["a key is missing"],
  ])
})

test("fenced code and comments are not content", () => {
  const state = readSessionState(`<!-- [Focus: <area>]
- Open Work: from the comment -->
\`\`\`md
[Focus: example] 2030-01-01
- Open Work: from the fence
\`\`\`
~~~
- Blockers: in tildes
~~~
[Focus: real] 2026-01-01
- did it <!-- hidden -->
- Open Work: real work
`)
  expect([state.focus, state.openWork, state.completed, state.blockers]).toEqual([
    "real",
    ["real work"],
    ["did it"],
    [],
  ])
})

test.each([
  "none",
  "none.",
  "None currently",
  "none; all green",
  "none at this time",
  "no blockers",
  "No known blockers.",
  "nothing",
  "N/A",
  "-",
  "<what blocks you>",
  "unblocked",
  "Unblocked since noon",
  "none 🎉",
  "✅ None",
  "No.",
  "none that I know of",
  "None known at the moment",
  "key is missing (resolved yesterday)",
  "~~waiting for the key~~",
])("%j is no blocker", (value) => {
  expect(readSessionState(`- Blockers: ${value}\n`).blockers).toEqual([])
})

test.each([
  "none of the mirrors answers",
  "none, but the key expires on Friday",
  "nonexistent credentials",
  "`npm ci` fails",
])("%j is one", (value) => {
  expect(readSessionState(`- Blockers: ${value}\n`).blockers).toEqual([`Blockers: ${value}`])
})

test("a line that speaks of being blocked is a blocker, one that speaks of the end of it is not", () => {
  const state = readSessionState(`[Focus: a]
- deploy is BLOCKED by the missing key
- unblocked the build
- the release is no longer blocked
- was blocked on review, resolved
`)
  expect(state.blockers).toEqual(["deploy is BLOCKED by the missing key"])
})

test.each([
  ["newest first", ["[Focus: new] 2026-04-02\n", "[Focus: old] 2026-04-01\n"]],
  ["newest last", ["[Focus: old] 2026-04-01\n", "[Focus: new] 2026-04-02\n"]],
  ["without dates", ["[Focus: new]\n", "[Focus: old]\n"]],
  ["with the time of day", ["[Focus: old] 2026-04-02 09:00\n", "[Focus: new] 2026-04-02 17:30\n"]],
  ["with other dates", ["[Focus: old] April 2, 2026\n", "[Focus: new] 12 Apr 2026\n"]],
  ["with short dates", ["[Focus: old] 2026-4-9\n", "[Focus: new] 2026/4/10\n"]],
  ["as dated headings", ["## 2026-04-01\n[Focus: old]\n", "## 2026-04-02\n[Focus: new]\n"]],
])("the newest entry decides in a log %s", (_, headers) => {
  const entries = headers.map((header) => {
    const name = header.includes("new") ? "new" : "old"
    return `${header}- ${name} thing\n- Decision: ${name} choice\nNext Operator Brief\n- Open Work: ${name} work\n- Blockers: ${name} trouble\n`
  })
  const state = readSessionState(`# Session State\n\n${entries.join("\n")}`)
  expect([state.focus, state.completed, state.openWork, state.blockers]).toEqual([
    "new",
    ["new thing"],
    ["new work"],
    ["Blockers: new trouble"],
  ])
  expect(state.decisions).toEqual(["Decision: old choice", "Decision: new choice"])
})

test("dates out of order still tell which entry is the newest", () => {
  const days = ["2026-04-01", "2026-04-03", "2026-04-02"]
  const { focus } = readSessionState(days.map((day) => `[Focus: of ${day}] ${day}\n- did it\n`).join("\n"))
  expect(focus).toBe("of 2026-04-03")
})

test("an entry without a date on top of dated ones is the newest", () => {
  const { focus } = readSessionState("[Focus: top]\n[Focus: b] 2026-04-03\n[Focus: a] 2026-04-02\n")
  expect(focus).toBe("top")
})

test("the only brief for the next operator holds wherever it stands", () => {
  const state = readSessionState(`[Focus: new] 2026-04-02
- did b
[Focus: old] 2026-04-01
- did a

## Next Operator Brief
- Open Work: the thing
`)
  expect([state.focus, state.completed, state.openWork]).toEqual(["new", ["did b"], ["the thing"]])
})

test("the brief for the next operator goes before the entry, the newest entry before an older brief", () => {
  const entry = "[Focus: a] 2026-04-02\n- Open Work: of the entry\n"
  const brief = "## Next Operator Brief\n- Open Work: of the brief\n"
  const older = "[Focus: b] 2026-04-01\n- did it\n"
  expect(
    [entry + brief, brief + entry, entry + older + brief].map((text) => readSessionState(text).openWork),
  ).toEqual([
    ["of the brief", "of the entry"],
    ["of the brief", "of the entry"],
    ["of the entry", "of the brief"],
  ])
})

test("a date in the heading of a brief or of a section does not make it an entry", () => {
  const state = readSessionState(`[Focus: a] 2026-04-01
- did it

## Decisions (as of 2026-04-05)
- use one table

## Next Operator Brief (2026-04-05)
- Open Work: the thing
`)
  expect([state.focus, state.completed, state.decisions, state.openWork]).toEqual([
    "a",
    ["did it"],
    ["use one table"],
    ["the thing"],
  ])
})

test("what was struck through or marked as superseded is gone", () => {
  const state = readSessionState(`[Focus: a]
- ~~Decision: use tabs~~
- Decision: use SQLite (superseded by Postgres)
- Decision: use Postgres
- finished x (reverted)
`)
  expect([state.decisions, state.completed]).toEqual([["Decision: use Postgres"], []])
})

test("given and awaited approvals are told apart", () => {
  const state = readSessionState(`[Focus: a]
- Requirements approved by the user.
- Waiting for approval of design.md
- bug-fix is not yet approved
`)
  expect([state.approvals, state.awaited, state.decisions]).toEqual([
    ["Requirements approved by the user."],
    ["Waiting for approval of design.md", "bug-fix is not yet approved"],
    ["Requirements approved by the user."],
  ])
})
