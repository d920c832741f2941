/**
 * What the engine keeps through consecutive compactions with unhelpful summarisers: facts from labelled lines (declared)
 * and facts only seen in what tools did (observed). Measured is presence in the first request after each compaction, not
 * whether the model uses it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type Reply, type ScriptRequest } from "../../packages/engine/dist/index.js"
import { openRandom } from "../retention/random.ts"
import { FALSE_REQUEST, SUMMARISERS, type SummariserName } from "../retention/summarisers.ts"

export interface Retention {
  readonly summariser: SummariserName
  readonly compactions: number
  readonly declared: string
  readonly observed: string
  readonly stale: number
  readonly invented: number
}

interface Fact {
  readonly kind: string
  readonly value: string
  readonly source: "declared" | "observed"
}

const textOf = (request: ScriptRequest): string => JSON.stringify(request.body)
const isSummary = (request: ScriptRequest): boolean => request.lastText.endsWith("Write the checkpoint now.")

export const measureRetention = async (
  summariser: SummariserName,
  compactions: number,
): Promise<Retention> => {
  const directory = mkdtempSync(join(tmpdir(), "meridian-retention-"))
  const random = openRandom(7)
  const token = () => random.token()
  /** Kind -> what holds now; a list for kinds with several current facts. */
  const single = new Map<string, Fact>()
  const several: Fact[] = []
  const outdated: string[] = []
  let plan: readonly { readonly name: string; readonly input: object }[] = []
  let last = ""
  const script = (request: ScriptRequest): Reply => {
    if (isSummary(request)) {
      const text = SUMMARISERS[summariser]({
        messages: [textOf(request).slice(0, 20_000)],
        context: [],
        seed: 1,
      })
      return text === undefined ? { error: "server" } : { text }
    }
    last = textOf(request)
    const tools = plan
    plan = []
    return tools.length > 0
      ? { tools: tools.map(({ name, input }) => ({ name, input: { ...input } })) }
      : { text: "ok" }
  }
  const engine = await openEngine({
    database: ":memory:",
    models: [{ id: "s/one", provider: "scripted", contextWindow: 200_000, maxOutput: 4_000, script }],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    compaction: { auto: false, keepTokens: 200 },
    retry: { attempts: 1, baseMs: 1 },
  })
  const { id: sessionID } = await engine.sessions.create({ location: { directory } })
  const ask = async (text: string): Promise<void> => {
    await engine.sessions.prompt({ sessionID, prompt: { text } })
    await engine.sessions.wait(sessionID)
  }
  const say = (kind: string, label: string): string => {
    const value = token()
    const before = single.get(kind)
    if (before !== undefined) outdated.push(before.value)
    single.set(kind, { kind, value, source: "declared" })
    return `${label}: ${value}`
  }
  const counts = { declared: [0, 0], observed: [0, 0] }
  let stale = 0
  let invented = 0
  mkdirSync(join(directory, ".meridian/rules"), { recursive: true })
  const rule = token()
  writeFileSync(join(directory, ".meridian/rules/one.md"), `Always say ${rule}.`)
  several.push({ kind: "rule", value: rule, source: "observed" })
  for (let round = 1; round <= compactions; round += 1) {
    const lines = [say("objective", "Objective"), say("next action", "Next action"), say("stage", "Stage")]
    if (round <= 5) {
      const decision = token()
      several.push({ kind: "decision", value: decision, source: "declared" })
      lines.push(`Decision: ${decision}`)
    }
    if (round === 2 || round === 3) {
      const blocker = token()
      if (round === 2) outdated.push(blocker)
      else several.push({ kind: "blocker", value: blocker, source: "declared" })
      lines.push(`Blocker: ${blocker}`, ...(round === 2 ? [`Blocker (resolved): ${blocker}`] : []))
    }
    const file = `${token()}.txt`
    writeFileSync(join(directory, file), "text")
    const todo = token()
    const run = `r${1_000 + round}`
    const shown = single.get("todo")
    if (shown !== undefined) outdated.push(shown.value)
    single.set("todo", { kind: "todo", value: todo, source: "observed" })
    several.push(
      { kind: "file", value: file, source: "observed" },
      { kind: "run", value: run, source: "observed" },
    )
    plan = [
      { name: "read", input: { path: file } },
      { name: "todo", input: { todos: [{ content: `work on ${todo}`, status: "in_progress" }] } },
      { name: "bash", input: { command: `meridian() { echo ${run}; }; meridian run spawn --background x` } },
    ]
    if (round === 3) await engine.sessions.switchAgent({ sessionID, agent: "plan" })
    await ask(lines.join("\n"))
    await ask("and then?")
    await ask("one more thing")
    await engine.sessions.compact(sessionID)
    await ask(`go on after ${round}`)
    for (const fact of expected(single, several, round)) {
      const count = counts[fact.source]
      count[1] = (count[1] ?? 0) + 1
      if (last.includes(fact.value)) count[0] = (count[0] ?? 0) + 1
    }
    const baseline = /"role":"system","content":"Environment:(?:[^"\\]|\\.)*"/.exec(last)?.[0] ?? ""
    stale += outdated.filter((value) => baseline.includes(value)).length
    if (last.includes(FALSE_REQUEST)) invented += 1
  }
  await engine.close()
  rmSync(directory, { recursive: true, force: true })
  const share = ([present = 0, of = 0]: readonly number[]) => `${present}/${of}`
  return {
    summariser,
    compactions,
    declared: share(counts.declared),
    observed: share(counts.observed),
    stale,
    invented,
  }
}

/** The brief has room for the newest of each kind. Older files and runs are found with recall. */
const NEWEST = 5

const expected = (
  single: ReadonlyMap<string, Fact>,
  several: readonly Fact[],
  round: number,
): readonly Fact[] => [
  ...single.values(),
  ...several.filter((fact) => fact.kind !== "file" && fact.kind !== "run"),
  ...several.filter((fact) => fact.kind === "file").slice(-NEWEST),
  ...several.filter((fact) => fact.kind === "run").slice(-NEWEST),
  ...(round >= 3 ? [{ kind: "agent", value: "plan", source: "observed" } as const] : []),
]
