import { expect } from "vitest"

import { verifies } from "../../verifies.ts"
import { briefOf, bulletsOf } from "./tree.ts"

const GENERIC = [
  "Primary Objective",
  "Current Step",
  "Status",
  "Completed",
  "Remaining",
  "Decisions",
  "Active Files",
  "Blockers / Risks",
  "Next Action",
]
const WORKFLOW = [
  "Workflow Type",
  "Canonical Workflow Stage",
  "Source Artifacts",
  "Current Artifact",
  "Artifact Status",
  "Transition Gate",
  "Approved Decisions",
  "Pending Decisions / Open Questions",
  "Dependencies / Preconditions",
  "Verification / Done Criteria",
]

const headingsOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .flatMap((line) => (line.startsWith("## ") ? [line.slice(3)] : line === "---" ? ["---"] : []))

verifies("brief.headings", async () => {
  const generic = await briefOf({ "SESSION.md": "[Focus: a]\n- did it\n" })
  const workflow = await briefOf({ ".codex/bugs/crash/report.md": "It crashes.\n" })
  expect(headingsOf(generic.text)).toEqual(["Stage-Aware Continuation", ...GENERIC])
  expect(headingsOf(workflow.text)).toEqual([
    "Stage-Aware Continuation",
    ...GENERIC,
    "---",
    "Workflow-Aware Augmentation",
    ...WORKFLOW,
  ])
  // A heading is directly followed by its bullets, and preceded by one blank line.
  expect(workflow.text).not.toMatch(/^## .*\n\n/m)
  expect(workflow.text).not.toMatch(/[^\n]\n## |\n\n\n/)
})

verifies("brief.empty", async () => {
  const missing = await briefOf({})
  const empty = await briefOf({ "SESSION.md": "\n \n" })
  expect(empty.text).toBe(missing.text)
  expect(GENERIC.map((heading) => bulletsOf(empty.text, heading).length)).toEqual(GENERIC.map(() => 1))
  expect(
    ["Completed", "Remaining", "Decisions", "Active Files", "Blockers / Risks"].map((heading) =>
      bulletsOf(empty.text, heading),
    ),
  ).toEqual(Array.from({ length: 5 }, () => ["none recorded"]))
})

verifies("session.fields", async () => {
  const { text } = await briefOf({
    "SESSION.md": `[Focus: search] 2026-04-01
- indexed the titles
- Decision: no stemming
Next Operator Brief
- Open Work: index the bodies
- Pending Tests: ranking
- Next Action: write the tokenizer
- Blockers: none
`,
  })
  expect(GENERIC.map((heading) => bulletsOf(text, heading))).toEqual([
    ["Index the bodies"],
    ["Current open work: index the bodies"],
    ["Active — working on search."],
    ["indexed the titles"],
    ["index the bodies", "Pending tests: ranking"],
    ["Decision: no stemming"],
    ["none recorded"],
    ["none recorded"],
    ["write the tokenizer"],
  ])
})

verifies("session.blockers", async () => {
  const blocked = await briefOf({ "SESSION.md": "[Focus: a]\n- Blockers: the staging key is missing\n" })
  const free = await briefOf({ "SESSION.md": "[Focus: a]\n- Blockers: none.\n" })
  expect([bulletsOf(blocked.text, "Status"), bulletsOf(blocked.text, "Blockers / Risks")]).toEqual([
    ["At risk — the staging key is missing"],
    ["Blockers: the staging key is missing"],
  ])
  expect([bulletsOf(free.text, "Status"), bulletsOf(free.text, "Blockers / Risks")]).toEqual([
    ["Active — working on a."],
    ["none recorded"],
  ])
})

verifies("session.newest", async () => {
  const { text } = await briefOf({
    "SESSION.md": `[Focus: new] 2026-04-02
- Open Work: new work
- Blockers: none

[Focus: old] 2026-04-01
- Open Work: old work
- Blockers: a key is missing
- we are BLOCKED
`,
  })
  expect([bulletsOf(text, "Next Action"), bulletsOf(text, "Status")]).toEqual([
    ["new work"],
    ["Active — working on new."],
  ])
})
