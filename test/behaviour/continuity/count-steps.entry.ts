/**
 * Counts the steps that the library takes on inputs of two sizes and prints them as JSON: block counts of V8's precise
 * coverage. It runs in its own process without optimising compilers, which would leave blocks uncounted.
 */
import { Session } from "node:inspector/promises"

import { type Fact, readBrief, renderBrief } from "@meridian/continuity"

import { inTree, type Tree } from "./tree.ts"

const session = new Session()
session.connect()
await session.post("Profiler.enable")
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })

/** Blocks entered since the last count. */
const takeCount = async (): Promise<number> => {
  const { result } = await session.post("Profiler.takePreciseCoverage")
  return result
    .filter(({ url }) => url.includes("packages/continuity/"))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
    .reduce((sum, count) => sum + count, 0)
}

const countSteps = async (act: () => Promise<unknown>): Promise<number> => {
  await takeCount()
  await act()
  return takeCount()
}

const INPUTS: Readonly<Record<string, (size: number) => Tree>> = {
  "entries of a log": (size) => ({
    "SESSION.md": Array.from({ length: size }, (_, index) => `[Focus: f${index}] 2026-01-01\n- done\n`).join(
      "",
    ),
  }),
  "bullets of an entry": (size) => ({ "SESSION.md": `[Focus: a]\n${"- Decision: x\n  - y\n".repeat(size)}` }),
  "lines of a value": (size) => ({ "SESSION.md": `- Open Work: a\n${"  more\n".repeat(size)}` }),
  "headings and comments": (size) => ({ "SESSION.md": "## Open Work\n<!-- a -->\n<!--\n-->\n".repeat(size) }),
  "fences nobody closes": (size) => ({ "SESSION.md": "```\n~~~\n".repeat(size) }),
  tasks: (size) => ({ ".codex/specs/a/tasks.md": "## Batch 1\n- [x] 1. a\n- [ ] 2. b\n".repeat(size) }),
  "notes of a spec": (size) => ({
    ".codex/specs/a/tasks.md": "- [ ] 1. a\n",
    ".codex/specs/a/context.md": "## Decisions Made\n- a\n## Key Discoveries\n- b\n".repeat(size),
  }),
  "progress of a bug": (size) => ({
    ".codex/bugs/a/report.md": "r",
    ".codex/bugs/a/harness/progress.md": "- bug-fix entered\n".repeat(size),
  }),
  "spec folders": (size) =>
    Object.fromEntries(
      Array.from({ length: size / 10 }, (_, index) => [`.codex/specs/s${index}/requirements.md`, "r"]),
    ),
}

const steps: Record<string, readonly number[]> = {}
for (const [name, build] of Object.entries(INPUTS)) {
  const count = (size: number): Promise<number> =>
    inTree(build(size), (root) =>
      countSteps(() => readBrief({ root, clock: () => 0, limits: { fileLines: 1_000_000 } })),
    )
  steps[name] = [await count(800), await count(1600)]
}
const facts = (size: number): readonly Fact[] =>
  Array.from({ length: size }, (_, order) => ({ kind: "decision", text: `d${order}`, source: "test", order }))
steps["facts of the renderer"] = [
  await countSteps(async () => renderBrief(facts(2000))),
  await countSteps(async () => renderBrief(facts(4000))),
]
process.stdout.write(JSON.stringify(steps))
