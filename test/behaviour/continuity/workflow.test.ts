import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { readBrief } from "@meridian/continuity"
import { expect, test } from "vitest"

import { verifies } from "../../verifies.ts"
import { briefOf, bulletsOf, inTree, type Tree } from "./tree.ts"

const SPEC = ".codex/specs/search"
const BUG = ".codex/bugs/crash"
const LOG = "[Focus: payments] 2026-04-01\n- Open Work: split the invoice module\n"

const spec = (files: Tree, session = LOG): Tree => ({ "SESSION.md": session, ...under(SPEC, files) })
const bug = (files: Tree, session = LOG): Tree => ({ "SESSION.md": session, ...under(BUG, files) })
const under = (folder: string, files: Tree): Tree =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))

const modeOf = async (tree: Tree): Promise<string> => (await briefOf(tree)).mode

const TASKS = "## Batch 1 — Base\n- [ ] 1. First\n"

verifies("workflow.names", async () => {
  const stages = ["spec-create", "spec-design", "spec-tasks", "spec-execute"]
  const trees = stages.map((stage) =>
    spec({ "requirements.md": "r", "design.md": "d", "tasks.md": TASKS }, `[Focus: x]\n- Stage: ${stage}\n`),
  )
  const bugs = ["bug-create", "bug-analyze", "bug-fix", "bug-verify"].map((stage) =>
    bug({ "report.md": "r", "analysis.md": "a" }, `[Focus: x]\n- Stage: ${stage}\n`),
  )
  const briefs = await Promise.all([...trees, ...bugs].map(briefOf))
  expect(briefs.map(({ text }) => bulletsOf(text, "Canonical Workflow Stage"))).toEqual(
    [...stages, "bug-create", "bug-analyze", "bug-fix", "bug-verify"].map((stage) => [stage]),
  )
  for (const { text } of briefs) expect(text).not.toMatch(/^- $/m)
})

verifies("workflow.infer.spec", async () => {
  const infer = (files: Tree): Promise<string> => modeOf(spec(files))
  expect([
    await infer({ "requirements.md": "r" }),
    await infer({ "requirements.md": "r", "design.md": "d" }),
    await infer({ "requirements.md": "r", "design.md": "d", "tasks.md": TASKS }),
    await infer({ "requirements.md": "r", "tasks.md": "- [ ] 1. a\n- [X] 2. b\n" }),
    await infer({ "tasks.md": TASKS, "context.md": "Last completed batch: 1\n" }),
    await infer({ "tasks.md": TASKS, "context.md": "## Key Discoveries\n- x\n" }),
    await infer({ "tasks.md": TASKS, "harness/feature_list.json": '[{"id":1,"passes":true}]' }),
    await infer({ "tasks.md": TASKS, "harness/feature_list.json": '[{"id":1,"passes":false}]' }),
  ]).toEqual([
    "workflow:spec/spec-create",
    "workflow:spec/spec-design",
    "workflow:spec/spec-tasks",
    "workflow:spec/spec-execute",
    "workflow:spec/spec-execute",
    "workflow:spec/spec-execute",
    "workflow:spec/spec-execute",
    "workflow:spec/spec-tasks",
  ])
})

verifies("workflow.infer.bug", async () => {
  const infer = (files: Tree): Promise<string> => modeOf(bug({ "report.md": "r", ...files }))
  expect([
    await infer({}),
    await infer({ "analysis.md": "a" }),
    await infer({ "analysis.md": "a", "harness/progress.md": "- bug-fix approved\n" }),
    await infer({ "analysis.md": "a", "harness/progress.md": "- waiting for approval of bug-fix\n" }),
    await infer({ "analysis.md": "a", "harness/progress.md": "- bug-fix runs; then ask for bug-verify\n" }),
    await infer({ "analysis.md": "a", "harness/bug_state.json": '{\n  "stage": "bug-fix"\n}\n' }),
    await infer({ "analysis.md": "a", "verification.md": "v" }),
    await infer({ "analysis.md": "# - *\n" }),
  ]).toEqual([
    "workflow:bug/bug-create",
    "workflow:bug/bug-analyze",
    "workflow:bug/bug-fix",
    "workflow:bug/bug-analyze",
    "workflow:bug/bug-fix",
    "workflow:bug/bug-fix",
    "workflow:bug/bug-verify",
    "workflow:bug/bug-create",
  ])
})

verifies("workflow.hint", async () => {
  const files = { "requirements.md": "r", "design.md": "d", "tasks.md": TASKS }
  const hinted = (session: string, more: Tree = {}): Promise<string> =>
    modeOf({ ...spec(files, session), ...more })
  expect([
    await hinted("[Focus: search] 2026-04-01\n- in spec-execute now\n"),
    // the newest entry, not the last mention
    await hinted("[Focus: a] 2026-04-02\n- in spec-execute\n[Focus: a] 2026-04-01\n- in spec-design\n"),
    await hinted("[Focus: a] 2026-04-01\n- in spec-design\n[Focus: a] 2026-04-02\n- in spec-execute\n"),
    // an older word does not take it back
    await hinted("[Focus: a] 2026-04-02\n- wrote tasks\n[Focus: a] 2026-04-01\n- in spec-create\n"),
    // a vocabulary is not a state, nor is part of a word, nor what comes later
    await hinted(LOG, { "AGENTS.md": "Stages: spec-create -> spec-design -> spec-tasks -> spec-execute\n" }),
    await hinted(LOG, { "AGENTS.md": "- `spec-create`: first\n- `spec-execute`: last\n" }),
    await hinted("[Focus: a]\n- fixed debug-fixes and spec-executed\n"),
    await hinted("[Focus: a]\n- finish tasks, then ask for approval to enter spec-execute\n"),
    // said only in AGENTS.md, as the present one
    await hinted(LOG, { "AGENTS.md": "Current stage: spec-execute\n" }),
  ]).toEqual([
    "workflow:spec/spec-execute",
    "workflow:spec/spec-execute",
    "workflow:spec/spec-execute",
    "workflow:spec/spec-tasks",
    "workflow:spec/spec-tasks",
    "workflow:spec/spec-tasks",
    "workflow:spec/spec-tasks",
    "workflow:spec/spec-tasks",
    "workflow:spec/spec-execute",
  ])
})

test.each([
  ["- moved to bug-fix", "bug-fix"],
  ["- /bug-fix crash", "bug-fix"],
  ["- Current stage: `bug-fix` (approved)", "bug-fix"],
  ["- approval for bug-fix was granted", "bug-fix"],
  ["- bug-fix approved; then request approval to proceed to bug-verify", "bug-fix"],
  ["- finished bug-analyze; working in bug-fix", "bug-fix"],
  ["- waiting for approval of bug-fix", "bug-analyze"],
  ["- before bug-fix the plan needs a review", "bug-analyze"],
  ["- not in bug-fix yet", "bug-analyze"],
])("%j means %s", async (line, stage) => {
  const tree = bug({ "report.md": "r", "analysis.md": "a" }, `[Focus: crash]\n${line}\n`)
  expect(await modeOf(tree)).toBe(`workflow:bug/${stage}`)
})

test("a stage in prose needs the artifacts it works on", async () => {
  const session = "[Focus: a]\n- we are in spec-execute\n"
  expect(await modeOf(spec({ "requirements.md": "r" }, session))).toBe("workflow:spec/spec-create")
})

verifies("workflow.generic", async () => {
  const generic = [
    { "SESSION.md": LOG },
    { "SESSION.md": LOG, ".codex/specs/old/": "" },
    { "SESSION.md": LOG, ".codex/specs/old/requirements.md": "\n" },
    { "SESSION.md": LOG, ".codex/bugs/old/harness/": "" },
    { "SESSION.md": LOG, ".codex/specs/attic/requirements.md": "r" },
    { "SESSION.md": "[Focus: a]\n- Stage: spec-execute\n- Open Work: x\n" },
    { "SESSION.md": LOG, ".codex/specs/done/tasks.md": "- [x] 1. all of it\n" },
    {},
  ]
  const briefs = await Promise.all(generic.map(briefOf))
  expect(briefs.map(({ mode }) => mode)).toEqual(generic.map(() => "generic"))
  for (const { text } of briefs) expect(text).not.toContain("Augmentation")
  expect(bulletsOf(briefs[1]?.text ?? "", "Next Action")).toEqual(["split the invoice module"])
})

test("an empty folder is a workflow when the newest entry says that it begins", async () => {
  const tree = { "SESSION.md": "[Focus: search]\n- started spec-create\n", ".codex/specs/search/": "" }
  const { text, mode } = await briefOf(tree)
  expect([mode, bulletsOf(text, "Current Artifact")]).toEqual([
    "workflow:spec/spec-create",
    ["none recorded"],
  ])
})

verifies("workflow.folder", async () => {
  const artifactOf = (
    session: string,
    folders: Readonly<Record<string, string>>,
  ): Promise<string | undefined> =>
    inTree({ "SESSION.md": session }, async (root) => {
      for (const [name, file] of Object.entries(folders)) {
        const folder = join(root, ".codex/specs", name)
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, file), "- [ ] 1. a\n")
        const [, hours = "0"] = name.split("@")
        utimesSync(join(folder, file), new Date(0), new Date(Number(hours) * 3_600_000))
      }
      return (await readBrief({ root, clock: () => 0 })).artifact
    })
  expect([
    await artifactOf("[Focus: a]\n- see `.codex/specs/one/`\n", { one: "design.md", two: "tasks.md" }),
    await artifactOf("[Focus: a]\n- ran /spec-execute batch 2 one.\n", { one: "design.md", two: "tasks.md" }),
    await artifactOf("[Focus: auth-v2] 2026-01-02\n", { auth: "tasks.md", "auth-v2": "tasks.md" }),
    await artifactOf("[Focus: new] 2026-01-02\n[Focus: old] 2026-01-01\n", {
      new: "design.md",
      old: "tasks.md",
    }),
    await artifactOf(LOG, { "further@1": "tasks.md", "younger@9": "requirements.md" }),
    await artifactOf(LOG, { "older@1": "tasks.md", "younger@9": "tasks.md" }),
  ]).toEqual([
    ".codex/specs/one/design.md",
    ".codex/specs/one/design.md",
    ".codex/specs/auth-v2/tasks.md",
    ".codex/specs/new/design.md",
    ".codex/specs/further@1/tasks.md",
    ".codex/specs/younger@9/tasks.md",
  ])
})

test("a bug the newest entry points at goes before a spec nobody names", async () => {
  const tree = {
    ...spec({ "requirements.md": "r" }),
    ...bug({ "report.md": "r" }, "[Focus: a]\n- see .codex/bugs/crash\n"),
  }
  expect([await modeOf(tree), await modeOf({ ...tree, "SESSION.md": LOG })]).toEqual([
    "workflow:bug/bug-create",
    "workflow:spec/spec-create",
  ])
})

test("a link in place of a workflow folder is not followed", async () => {
  const mode = await inTree(
    { "SESSION.md": LOG, "elsewhere/requirements.md": "r", ".codex/specs/": "" },
    async (root) => {
      symlinkSync(join(root, "elsewhere"), join(root, ".codex/specs/linked"))
      return (await readBrief({ root, clock: () => 0 })).mode
    },
  )
  expect(mode).toBe("generic")
})

verifies("workflow.tasks", async () => {
  const tasks = `# Tasks
- [x] outside of any batch

## Batch 1: Base (v1)
- [X] 1. Upper case
* [x] 1.1. A star (with brackets)
  - [ ] 1.2 Nested without a dot
    + [ ] **1.3** Bold number
1. [ ] Numbered list
2) [✓] Other bracket
- [-] 2.1: Under way
- [ ] ~~3. Struck out~~
\`\`\`
- [ ] 9. in a fence
\`\`\`

### Batch 2 — Rest
-   [ ]   Task 4: Title
## Notes
- [ ] loose end
- not a task
`
  const { text } = await briefOf(spec({ "tasks.md": tasks }, "[Focus: search]\n- in spec-execute\n"))
  expect(bulletsOf(text, "Completed").slice(1)).toEqual([
    "outside of any batch",
    "1 — Upper case (Batch 1: Base (v1))",
    "1.1 — A star (with brackets) (Batch 1: Base (v1))",
    "2 — Other bracket (Batch 1: Base (v1))",
  ])
  expect(bulletsOf(text, "Remaining")).toEqual([
    "1.2 — Nested without a dot (Batch 1: Base (v1))",
    "1.3 — Bold number (Batch 1: Base (v1))",
    "1 — Numbered list (Batch 1: Base (v1))",
    "2.1 — Under way (Batch 1: Base (v1))",
    "4 — Title (Batch 2 — Rest)",
    "loose end",
  ])
  expect(bulletsOf(text, "Current Step")).toEqual([
    "Continue the current implementation lane in Batch 1: Base (v1): 1.2 — Nested without a dot (Batch 1: Base (v1)).",
  ])
  expect(bulletsOf(text, "Status")).toEqual([
    "search is in spec-execute; 4 task(s) complete and 6 task(s) remaining.",
  ])
})

test("of many finished tasks the latest are shown, of many open ones the next, and the rest is counted", async () => {
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1)
  const tasks = numbers.map((number) => `- [${number <= 20 ? "x" : " "}] ${number}. t${number}\n`).join("")
  const { text } = await briefOf(spec({ "tasks.md": tasks }))
  expect(bulletsOf(text, "Completed")).toEqual([
    ...[15, 16, 17, 18, 19, 20].map((number) => `${number} — t${number}`),
    "... and 15 more",
  ])
  expect(bulletsOf(text, "Remaining").at(0)).toBe("21 — t21")
  expect(bulletsOf(text, "Remaining").at(-1)).toMatch(/^\.\.\. and \d+ more$/)
})

test("a spec whose tasks are all done asks whether it may be closed", async () => {
  const { text } = await briefOf(spec({ "tasks.md": "- [x] 1. a\n" }, "[Focus: search]\n"))
  expect(bulletsOf(text, "Next Action")).toEqual(["Ask whether search is ready to be closed."])
})

verifies("workflow.carry-over", async () => {
  const context = `# Context
**Last completed batch:** 2 — Core.
## Key Discoveries
- the cache is shared
- the clock is injected
- a third one
## Decisions Made
1. use one table
   because joins are slow
2. keep the old names
## Carry-Forward Warnings
- the lock is not reentrant
## Blockers
- none currently
`
  const { text } = await briefOf(
    spec({
      "tasks.md": "- [x] 1. a\n- [ ] 2. b\n",
      "context.md": context,
      "harness/feature_list.json": '{"features":[{"status":"passed"},{"status":"open"}]}',
    }),
  )
  expect([
    bulletsOf(text, "Status"),
    bulletsOf(text, "Completed"),
    bulletsOf(text, "Decisions"),
    bulletsOf(text, "Blockers / Risks"),
    bulletsOf(text, "Artifact Status"),
    bulletsOf(text, "Remaining"),
  ]).toEqual([
    [
      "search is in spec-execute; 1 task(s) complete and 1 task(s) remaining. Last completed batch: 2 — Core.",
    ],
    ["`tasks.md` exists and execution has started.", "1 — a", "the cache is shared", "the clock is injected"],
    ["use one table because joins are slow", "keep the old names"],
    ["the lock is not reentrant"],
    ["search: 1 task(s) complete, 1 remaining; next task is 2 — b. 1 of 2 feature(s) pass."],
    ["2 — b", "Open work: split the invoice module"],
  ])
})

test("a bug carries its harness state, its progress and the decisions of its analysis", async () => {
  const { text } = await briefOf(
    bug(
      {
        "report.md": "r",
        "analysis.md": "## Fix\n### Risks and Trade-offs\n- slower by 1 %\n\n## Decision\nGuard the write.\n",
        "harness/progress.md": "# Progress\n\n- bug-fix entered\n- BLOCKED by the missing fixture\n",
        "harness/bug_state.json": '{\n  "stage": "bug-fix",\n  "note": "fix half done"\n}',
      },
      "[Focus: crash]\n- analysis.md approved by the user\n- Decision: no new dependency\n",
    ),
  )
  expect([
    bulletsOf(text, "Status"),
    bulletsOf(text, "Decisions"),
    bulletsOf(text, "Blockers / Risks"),
    bulletsOf(text, "Artifact Status"),
    bulletsOf(text, "Approved Decisions").at(-1),
  ]).toEqual([
    ["crash is in bug-fix; harness progress notes: bug-fix entered"],
    ["slower by 1 %", "Guard the write.", "Decision: no new dependency"],
    ["BLOCKED by the missing fixture"],
    ["crash: fix half done"],
    "analysis.md approved by the user",
  ])
})

test("an objective the session states stands beside the one of the stage", async () => {
  const { text, pinned } = await briefOf(spec({ "requirements.md": "r" }, "Goal: release version two\n"))
  const expected = [
    "Complete `requirements.md` with clear acceptance criteria and validation coverage.",
    "release version two",
  ]
  expect([bulletsOf(text, "Primary Objective"), bulletsOf(pinned, "Primary Objective")]).toEqual([
    expected,
    expected,
  ])
})

test("an approval that was given is approved and not pending, and does not hide the gate ahead", async () => {
  const pendingOf = async (tree: Tree): Promise<readonly (readonly string[])[]> => {
    const { text } = await briefOf(tree)
    return [
      bulletsOf(text, "Approved Decisions").slice(-1),
      bulletsOf(text, "Pending Decisions / Open Questions"),
    ]
  }
  const files = { "report.md": "r", "analysis.md": "a" }
  expect([
    await pendingOf(bug(files, "[Focus: crash]\n- bug-fix approved for analysis.md\n")),
    await pendingOf(bug(files, "[Focus: crash]\n- in bug-analyze\n- Waiting for approval of analysis.md\n")),
    await pendingOf(spec({ "requirements.md": "r" }, "[Focus: search]\n- in spec-create\n")),
    await pendingOf(
      spec({ "requirements.md": "r" }, "[Focus: search]\n- in spec-create\n- requirements.md approved\n"),
    ),
  ]).toEqual([
    [
      ["bug-fix approved for analysis.md"],
      ["Ask for approval to proceed to `bug-verify` when the gates are green."],
    ],
    [
      ["crash: approval of `report.md` is inferred from the presence of later bug artifacts."],
      ["Waiting for approval of analysis.md"],
    ],
    [["none recorded"], ["Explicit approval is still needed to leave spec-create."]],
    [["requirements.md approved"], ["none recorded"]],
  ])
})

test("a stage the caller was told chooses the stage when its artifacts are there, and never renames it", async () => {
  const stageOf = (text: string): Promise<readonly string[]> =>
    inTree(spec({ "requirements.md": "r", "tasks.md": TASKS }), async (root) => {
      const facts = [{ kind: "stage", text, source: "log", order: 1 }] as const
      return bulletsOf((await readBrief({ root, facts, clock: () => 0 })).text, "Canonical Workflow Stage")
    })
  expect([await stageOf("spec-execute"), await stageOf("planning"), await stageOf("bug-verify")]).toEqual([
    ["spec-execute"],
    ["spec-tasks"],
    ["spec-tasks"],
  ])
})

test("JSON of the harness that is broken says nothing", async () => {
  const { text } = await briefOf(bug({ "report.md": "r", "harness/bug_state.json": "{\n" }))
  expect(bulletsOf(text, "Artifact Status")).toEqual([
    "crash: `report.md` is present; its confirmation may still be needed.",
  ])
})

test.each([
  ["- Finished task 1, continue with `/spec-execute next search`", "spec-execute"],
  ["- finished the tasks, proceed to spec-execute", "spec-execute"],
  ["- after the review we are in spec-design", "spec-design"],
  ["- Stage: spec-design", "spec-design"],
  ["- not in spec-design any more, in spec-tasks", "spec-tasks"],
  ["- [x] /spec-design search\n- [ ] /spec-tasks search", "spec-tasks"],
  ["- don't run /spec-execute yet", "spec-tasks"],
])("the log %j means %s, whatever the artifacts suggest", async (line, stage) => {
  const files = { "requirements.md": "r", "design.md": "d", "tasks.md": TASKS }
  expect(await modeOf(spec(files, `[Focus: search] 2026-04-01\n${line}\n`))).toBe(`workflow:spec/${stage}`)
})

test("a command decides though the artifact it works on is missing", async () => {
  const tree = bug({ "report.md": "r" }, "[Focus: crash]\n- Next: /bug-fix crash\n")
  expect(await modeOf(tree)).toBe("workflow:bug/bug-fix")
})

verifies("workflow.between", async () => {
  const log = "[Focus: a]\n- in spec-execute and bug-fix at the same time\n"
  const tree = { ...spec({ "tasks.md": TASKS }), ...bug({ "report.md": "r", "analysis.md": "a" }, log) }
  const { mode, text, pinned } = await briefOf(tree)
  expect([mode, bulletsOf(pinned, "Canonical Workflow Stage")]).toEqual(["generic", []])
  const question =
    "The log speaks of spec-execute and bug-fix and does not say which is current: ask before going on."
  expect(bulletsOf(text, "Status")).toContain(question)
  expect(bulletsOf(pinned, "Open Questions")).toEqual([question])
  // Only one of them exists, so that one is meant.
  expect(await modeOf(spec({ "tasks.md": TASKS }, log))).toBe("workflow:spec/spec-execute")
})

verifies("workflow.uncounted", async () => {
  const done = Array.from(
    { length: 250 },
    (_, at) => `- [x] ${at + 1}. t${at + 1}\n${"  a note\n".repeat(9)}`,
  ).join("")
  const open = Array.from({ length: 50 }, (_, at) => `- [ ] ${at + 251}. t${at + 251}\n`).join("")
  const { text, pinned } = await briefOf(
    spec({ "tasks.md": done + open }, "[Focus: search]\n- in spec-execute\n"),
  )
  expect(bulletsOf(text, "Status")).toEqual([
    "search is in spec-execute; `tasks.md` is too long to be read whole, its tasks are not counted.",
  ])
  expect(text + pinned).not.toMatch(/ready to be closed|0 task|task\(s\)/)
  expect(bulletsOf(pinned, "Next Action")).toEqual([
    "Look in `tasks.md` of search for the next open task: it is behind the part that was read.",
  ])
})

test("the newest notes of a long context.md are kept, and no batch is said to be one too", async () => {
  const old = Array.from({ length: 3000 }, (_, at) => `- old note ${at}\n`).join("")
  const context = `Last completed batch: 0\n## Notes\n${old}## Decisions Made\n- the newest decision\n`
  const { text } = await briefOf(spec({ "tasks.md": "- [x] 1. a\n- [ ] 2. b\n", "context.md": context }))
  expect(bulletsOf(text, "Decisions")).toEqual(["the newest decision"])
  expect(bulletsOf(text, "Status").at(0)).toMatch(/Last completed batch: 0\.$/)
})

verifies("workflow.moved", async () => {
  const tree = {
    "SESSION.md": "[Focus: search] 2026-04-01\n- in spec-execute\n",
    ...under(SPEC, { "tasks.md": "- [x] 1. a\n- [ ] 2. b\n" }),
    ...under(".codex/specs/other", { "tasks.md": "- [x] 1. c\n- [ ] 2. d\n" }),
  }
  const pinnedAfter = (path: string, time: number): Promise<string> =>
    inTree(tree, async (root) => {
      utimesSync(join(root, "SESSION.md"), new Date(1000), new Date(1000))
      return (await readBrief({ root, touched: [{ path, order: 1, time }], clock: () => 0 })).pinned
    })
  const moved = await pinnedAfter(".codex/specs/other/tasks.md", 2000)
  expect([bulletsOf(moved, "Canonical Workflow Stage"), bulletsOf(moved, "Next Action")]).toEqual([
    [
      "spec-execute",
      "The log is about search, but since it was written the tools have worked in .codex/specs/other: confirm which one is current before going on.",
    ],
    [],
  ])
  // Before the log was written, or in the spec it names, or elsewhere: the log decides.
  for (const [path, time] of [
    [".codex/specs/other/tasks.md", 500],
    [`${SPEC}/tasks.md`, 2000],
    ["src/a.ts", 2000],
  ] as const)
    expect(bulletsOf(await pinnedAfter(path, time), "Next Action")).toEqual([
      "Resume search in spec-execute: 2 — b.",
    ])
})

test("a log that names no spec is about the one the tools worked in last", async () => {
  const tree = {
    "SESSION.md": LOG,
    ...under(SPEC, { "tasks.md": "- [x] 1. a\n- [ ] 2. b\n" }),
    ...under(".codex/specs/other", { "tasks.md": "- [x] 1. c\n- [ ] 2. d\n" }),
  }
  const next = await inTree(tree, async (root) => {
    const touched = ["other", "search", "other"].map((name, order) => ({
      path: `.codex/specs/${name}/tasks.md`,
      order,
    }))
    return bulletsOf((await readBrief({ root, touched, clock: () => 0 })).pinned, "Next Action")
  })
  expect(next).toEqual(["Resume other in spec-execute: 2 — d."])
})
