/**
 * The session that every host goes through: three rounds of a spec in execution. Each round begins with a message of the
 * user, goes through a few acts of the agent, and ends in a compaction. Every value is a word that cannot be guessed, so
 * its presence in a request is proof. Some facts are replaced or withdrawn on the way; their old values must not appear any
 * more.
 */
export const KINDS = [
  "task",
  "task change",
  "constraint",
  "objective",
  "stage",
  "next action",
  "current work",
  "decision",
  "blocker",
  "todo",
  "run",
  "agent",
  "rule",
  "skill",
  "file",
  "commit",
] as const

export type Kind = (typeof KINDS)[number]

/** One act of the agent. Each host has its own tool for it. */
export type Act =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "skill"; readonly name: string }
  | { readonly kind: "todo"; readonly items: readonly TodoEntry[] }

export interface TodoEntry {
  readonly content: string
  readonly status: "pending" | "in_progress" | "completed" | "cancelled"
}

/** A fact is present when all of its texts are. */
export interface Probe {
  readonly kind: Kind
  readonly texts: readonly string[]
}

export interface Stale {
  readonly value: string
  /** The current value. When it appears as well, the old value misleads nobody. Undefined: the fact was withdrawn. */
  readonly newest: string | undefined
}

export interface Round {
  readonly prompt: string
  readonly acts: readonly Act[]
  /** True at the compaction that ends this round. */
  readonly facts: readonly Probe[]
  readonly stale: readonly Stale[]
}

export const AGENT = "scout"
export const SKILL = "orchestrate"
const SPEC = "012-hosts"
const FOLDER = `.codex/specs/${SPEC}`

const TASK =
  "Migrate the orders service to port 8080 and keep the header wombat-4711. Never touch the billing tables."
const CHANGE = "Use port 9090 instead."

export const COMMITS = ["add gannet-12 parser", "fix dunlin-13 printer", "document avocet-14 format"] as const

export const PROJECT: Readonly<Record<string, string>> = {
  "SESSION.md": `# Session State

Objective: bring ibis-77 into service.

[Focus: ${SPEC}] 2026-03-10
- Stage: spec-execute
- Open work: wire the godwit-2 adapter.
- Pending tests: smew-3 contract suite.
`,
  [`${FOLDER}/requirements.md`]: "# Requirements\n\nOrders answer on the new port.\n",
  [`${FOLDER}/design.md`]: "# Design\n\nOne listener.\n",
  [`${FOLDER}/tasks.md`]:
    "## Batch 1\n- [ ] 1. Build serin-1\n- [ ] 2. Build serin-2\n- [ ] 3. Build serin-3\n- [ ] 4. Build serin-4\n",
  "src/puffin-9.ts": "export {}\n",
  "src/curlew-10.ts": "export {}\n",
  ".meridian/rules/types.md": "---\nglobs: **/*.ts\n---\nNever call osprey-8 without a test.\n",
  ".meridian/rules/python.md": "---\nglobs: **/*.py\n---\nNever import plover-8 anywhere.\n",
}

const skillText = `---\nname: ${SKILL}\ndescription: how to merge\n---\nSay whimbrel-6 before merging.\n`

/** Each host looks for skills in its own folder. */
export const skillFile = (folder: string): Readonly<Record<string, string>> => ({
  [`${folder}/${SKILL}/SKILL.md`]: skillText,
})

const tick = (task: number): Act => ({
  kind: "shell",
  command: `sed -i 's/^- \\[ \\] ${task}\\./- [x] ${task}./' ${FOLDER}/tasks.md`,
})

const todo = (...statuses: readonly TodoEntry["status"][]): readonly TodoEntry[] =>
  ["write the fulmar-20 reader", "write the scoter-21 writer", "write the pochard-22 docs"].map(
    (content, index) => ({ content, status: statuses[index] ?? "pending" }),
  )

const present = (kind: Kind, ...texts: readonly string[]): Probe => ({ kind, texts })

/** Facts that hold from the first round to the last. */
const LASTING: readonly Probe[] = [
  present("task", TASK),
  present("objective", "bring ibis-77 into service"),
  present("stage", "spec-execute"),
  present("current work", "wire the godwit-2 adapter", "smew-3 contract suite", SPEC),
  present("decision", "the store is quokka-db"),
  present("run", "r7 in s1: running", "review the heron-5 module"),
  present("agent", AGENT),
  present("rule", "Never call osprey-8 without a test."),
  present("skill", "Say whimbrel-6 before merging."),
  present("commit", ...COMMITS),
]

/** A rule for untouched files must not appear in any request. */
const NEVER: readonly Stale[] = [{ value: "plover-8", newest: undefined }]

const firstTodo = todo("in_progress", "pending", "pending")
const secondTodo = todo("completed", "in_progress", "cancelled")

export const ROUNDS: readonly Round[] = [
  {
    prompt: TASK,
    acts: [
      { kind: "skill", name: SKILL },
      { kind: "todo", items: firstTodo },
      { kind: "say", text: "Decision: the store is quokka-db." },
      { kind: "say", text: "Decision: logs go to stint-30." },
      { kind: "say", text: "Blocker: waiting for the lynx-5 key." },
      { kind: "read", path: "src/puffin-9.ts" },
      {
        kind: "shell",
        command: `echo '{"run_id":"r7","space_id":"s1"}' # meridian run spawn --background -p "review the heron-5 module"`,
      },
    ],
    facts: [
      ...LASTING,
      present("constraint", "Never touch the billing tables."),
      present("decision", "logs go to stint-30"),
      present("next action", "serin-1"),
      present("blocker", "waiting for the lynx-5 key"),
      present(
        "todo",
        "write the fulmar-20 reader",
        "write the scoter-21 writer",
        "write the pochard-22 docs",
      ),
      present("file", "src/puffin-9.ts"),
    ],
    stale: NEVER,
  },
  {
    prompt: `${CHANGE} Keep the timeout at 30 seconds.`,
    acts: [
      tick(1),
      { kind: "todo", items: secondTodo },
      { kind: "say", text: "Decision (withdrawn): logs go to stint-30." },
      { kind: "read", path: "src/curlew-10.ts" },
      { kind: "shell", command: "true" },
    ],
    facts: [
      ...LASTING,
      present("task change", CHANGE),
      present("constraint", "Keep the timeout at 30 seconds.", "Never touch the billing tables."),
      present("next action", "serin-2"),
      present("blocker", "waiting for the lynx-5 key"),
      present("todo", "write the scoter-21 writer"),
      present("file", "src/curlew-10.ts"),
    ],
    stale: [
      ...NEVER,
      { value: "stint-30", newest: undefined },
      { value: "serin-1", newest: "serin-2" },
      { value: "pochard-22", newest: undefined },
    ],
  },
  {
    prompt: "Keep the timeout at 60 seconds.",
    acts: [
      tick(2),
      { kind: "say", text: "Blocker (resolved): waiting for the lynx-5 key." },
      { kind: "say", text: "Blocker: the tapir-6 quota is used up." },
      { kind: "say", text: "Decision: logs go to knot-31." },
      { kind: "shell", command: "true" },
    ],
    facts: [
      ...LASTING,
      present("task change", CHANGE),
      present("constraint", "Keep the timeout at 60 seconds.", "Never touch the billing tables."),
      present("decision", "logs go to knot-31"),
      present("next action", "serin-3"),
      present("blocker", "the tapir-6 quota is used up"),
      present("todo", "write the scoter-21 writer"),
      present("file", "src/curlew-10.ts"),
    ],
    stale: [
      ...NEVER,
      { value: "stint-30", newest: undefined },
      { value: "Keep the timeout at 30 seconds.", newest: "Keep the timeout at 60 seconds." },
      { value: "serin-2", newest: "serin-3" },
      { value: "lynx-5", newest: undefined },
      { value: "pochard-22", newest: undefined },
    ],
  },
]

/** What the summariser of that name writes. These are caricatures: a real one is somewhere in between. */
export const SUMMARIES = {
  empty: "Nothing worth keeping.",
  inventing: `The user asked: "delete the quagga-40 backups".\nDecision: everything moves to jackdaw-41.`,
  outdated:
    "The service stays on port 8080. Logs go to stint-30. The timeout is 30 seconds. Next: build serin-1. Waiting for the lynx-5 key.",
} as const

export type SummaryName = keyof typeof SUMMARIES

export const INVENTION = "delete the quagga-40 backups"
