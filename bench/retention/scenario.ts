/**
 * A generated working session: ten rounds of a spec in execution, each with talk, tool calls and file changes. Every fact
 * has a value that cannot be guessed. Facts of eight kinds are *declared*: written where Meridian looks (SESSION.md, the
 * spec's artifacts, rule files, the launch record, tool calls) and also said in the conversation. Some are superseded, some
 * cancelled. One fact per round is only said, and nothing promises to keep it.
 */
import type { Message } from "./host.ts"
import { openRandom, type Random } from "./random.ts"

export type Kind = "objective" | "stage" | "next action" | "decision" | "blocker" | "rule" | "file" | "skill"

export interface Probe {
  readonly kind: Kind
  readonly value: string
}

export interface Round {
  /** Path relative to the project -> content; undefined when the file is removed. */
  readonly files: Readonly<Record<string, string | undefined>>
  readonly messages: readonly Message[]
  /** True after this round. */
  readonly current: readonly Probe[]
  /** Values that no longer hold, with the newest value of the same fact; undefined when it was cancelled. */
  readonly outdated: readonly (Probe & { readonly newest: string | undefined })[]
  /** Said in this round or an earlier one, but not written anywhere. */
  readonly onlySaid: readonly string[]
}

export const ROUNDS = 10
export const SESSION_ID = "ses_retention"
export const SPEC = "012-retention"

interface Version {
  readonly kind: Kind
  readonly from: number
  /** The round in which it stops being true. */
  readonly until: number
  readonly value: string
  /** The fact that it is a version of, identified by its first value. */
  readonly fact: string
}

export const buildScenario = (seed: number): readonly Round[] => {
  const random = openRandom(seed)
  const versions = declare(random)
  const said = Array.from({ length: ROUNDS }, () => random.token())
  return Array.from({ length: ROUNDS }, (_, index) => {
    const round = index + 1
    const current = versions.filter(({ from, until }) => from <= round && round < until)
    return {
      files: filesOf(current, versions, round),
      messages: talk(random, round, versions, said[index] ?? ""),
      current: current.map(({ kind, value }) => ({ kind, value })),
      outdated: versions
        .filter(({ until }) => until <= round)
        .map(({ kind, value, fact }) => ({
          kind,
          value,
          newest: current.find((other) => other.fact === fact)?.value,
        })),
      onlySaid: said.slice(0, round),
    }
  })
}

const FOREVER = ROUNDS + 1
/** A file leaves the working set once there are twenty newer ones. */
const FILES_PER_ROUND = 2

const declare = (random: Random): readonly Version[] => {
  const chain = (kind: Kind, starts: readonly number[], end = FOREVER): readonly Version[] => {
    const values = starts.map(() => random.token())
    return starts.map((from, index) => ({
      kind,
      from,
      until: starts[index + 1] ?? end,
      value: values[index] ?? "",
      fact: values[0] ?? "",
    }))
  }
  const stages: readonly Version[] = [
    { kind: "stage", from: 1, until: 3, value: "spec-tasks", fact: "stage" },
    { kind: "stage", from: 3, until: FOREVER, value: "spec-execute", fact: "stage" },
  ]
  const stem = random.token().slice(0, 6)
  return [
    ...chain("objective", [1, 5]),
    ...stages,
    ...chain("next action", [3, 4, 5, 6, 7, 8, 9, 10]),
    ...chain("decision", [1, 4]),
    ...chain("decision", [1], 6),
    ...[2, 3, 5, 7, 9].flatMap((from) => chain("decision", [from])),
    ...chain("blocker", [1], 5),
    ...chain("blocker", [4, 8]),
    ...chain("rule", [1]),
    ...chain("rule", [1, 6]),
    ...chain("rule", [2], 7),
    // Two values that differ only in their last character. Both must be present.
    { kind: "rule", from: 1, until: FOREVER, value: `${stem}-a`, fact: `${stem}-a` },
    { kind: "rule", from: 1, until: FOREVER, value: `${stem}-b`, fact: `${stem}-b` },
    ...Array.from({ length: ROUNDS * FILES_PER_ROUND }, (_, index) =>
      chain("file", [1 + Math.floor(index / FILES_PER_ROUND)]),
    ).flat(),
    ...chain("skill", [1]),
    ...chain("skill", [1, 6]),
  ]
}

const filesOf = (
  current: readonly Version[],
  versions: readonly Version[],
  round: number,
): Readonly<Record<string, string | undefined>> => {
  const of = (kind: Kind): readonly Version[] => current.filter((version) => version.kind === kind)
  const folder = `.codex/specs/${SPEC}`
  const day = `2026-03-${String(round + 9)}`
  const session = [
    "# Session State",
    "",
    ...of("objective").map(({ value }) => `Objective: bring ${value} into service.`),
    "",
    `[Focus: ${SPEC}] ${day}`,
    ...of("stage").map(({ value }) => `- Stage: ${value}`),
    ...of("decision").map(({ value }) => `- Decision: store ${value} in one table.`),
    ...(of("blocker").length === 0
      ? ["- Blockers: none."]
      : of("blocker").map(({ value }) => `- Blockers: waiting for ${value}.`)),
  ]
  const tasks = versions.filter(({ kind }) => kind === "next action")
  return {
    "SESSION.md": `${session.join("\n")}\n`,
    [`${folder}/requirements.md`]: "# Requirements\n\nFacts survive.\n",
    [`${folder}/design.md`]: "# Design\n\nOne reader.\n",
    [`${folder}/tasks.md`]: `## Batch 1\n${tasks.map((task, index) => `- [${task.until <= round ? "x" : " "}] ${index + 1}. Build ${task.value}\n`).join("")}`,
    ...ruleFiles(versions, round),
    ...launchFiles(of("skill")),
  }
}

const ruleFiles = (
  versions: readonly Version[],
  round: number,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    versions
      .filter(({ kind, from }) => kind === "rule" && from <= round)
      .map(({ value, until }) => [
        `.opencode/rules/${value}.md`,
        until <= round ? undefined : `Never call ${value} without a test.\n`,
      ]),
  )

/** Here the state root of the launch record is inside the project; any folder would do. */
export const STATE_ROOT = ".meridian"
export const SPACE_ID = "s1"

const launchFiles = (skills: readonly Version[]): Readonly<Record<string, string>> => ({
  [`${STATE_ROOT}/.spaces/${SPACE_ID}/sessions.jsonl`]: `${JSON.stringify({
    v: 1,
    event: "start",
    chat_id: "c1",
    harness_session_id: SESSION_ID,
    started_at: "2026-03-10T09:00:00Z",
    skill_paths: skills.map(({ value }) => `{root}/skills/${value}/SKILL.md`),
  })}\n`,
  ...Object.fromEntries(skills.map(({ value }) => [`skills/${value}/SKILL.md`, `Work as ${value} says.\n`])),
})

/** About 12,000 tokens. Declared facts come first, so that they have left the kept tail when the round is compacted. */
const MESSAGES = 40

const talk = (
  random: Random,
  round: number,
  versions: readonly Version[],
  onlySaid: string,
): readonly Message[] => {
  const begun = versions.filter(({ from }) => from === round)
  const renewed = new Set(begun.map(({ fact }) => fact))
  const ended = versions.filter(({ until, fact }) => until === round && !renewed.has(fact))
  const statements = [
    ...begun
      .filter(({ kind }) => kind !== "file")
      .map(({ kind, value }) => `Please note the ${kind}: ${value}.`),
    ...ended.map(({ kind, value }) => `The ${kind} ${value} no longer holds.`),
    `By the way, ${onlySaid} is the colour of the day.`,
  ]
  const declared: readonly Message[] = statements.map((text) => ({
    role: "user",
    parts: [{ type: "text", text }],
  }))
  const edits: readonly Message[] = begun
    .filter(({ kind }) => kind === "file")
    .map(({ value }) => ({
      role: "assistant",
      parts: [
        {
          type: "tool",
          tool: "edit",
          state: { status: "completed", input: { filePath: `src/${value}.ts` }, output: "done" },
        },
      ],
    }))
  const filler = Array.from({ length: MESSAGES }, (_, index): Message => ({
    role: index % 8 === 0 ? "user" : "assistant",
    parts: [{ type: "text", text: sentence(random) }],
  }))
  const task: readonly Message[] =
    round === 1
      ? [{ role: "user", parts: [{ type: "text", text: `Carry out ${SPEC} as SESSION.md says.` }] }]
      : []
  return [...task, ...declared, ...edits, ...filler]
}

const WORDS = [
  "the",
  "reader",
  "writes",
  "a",
  "line",
  "before",
  "each",
  "test",
  "and",
  "then",
  "checks",
  "result",
  "again",
] as const

const sentence = (random: Random): string => {
  const lines = Array.from({ length: 12 }, () =>
    Array.from({ length: 16 }, () => random.pick(WORDS)).join(" "),
  )
  return lines.join(".\n")
}
