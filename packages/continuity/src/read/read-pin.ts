/**
 * What is pinned after a compaction, the same in every host: the ledger of the conversation, the files of the project,
 * the launch record, the run table, the rules that apply, skills that were loaded and the last commits. One text within
 * one budget; empty when nothing is known.
 */
import type { Attachment } from "../domain/brief/attachment.ts"
import { pinTokens } from "../domain/brief/budget.ts"
import { type PinnedOptions, renderPinned } from "../domain/brief/render-pinned.ts"
import { appendFacts, type Fact } from "../domain/fact.ts"
import { launchBodies } from "../domain/launch-record/render-launch.ts"
import { CONVERSATION, ledgerFacts, unseenSummaryFacts } from "../domain/ledger/ledger-facts.ts"
import type { LedgerState } from "../domain/ledger/ledger-state.ts"
import { READ_LIMITS } from "../domain/limits.ts"
import { cleanBody } from "../domain/rule/clean-body.ts"
import { readFrontMatter } from "../domain/rule/front-matter.ts"
import { stableFirst, type Rule } from "../domain/rule/rule.ts"
import { runFacts } from "../domain/run-table/run-table.ts"
import type { TouchedFile } from "../domain/workflow/moved-work.ts"
import { type Place, projectPath } from "../domain/working-set/working-set.ts"
import { readLaunch, type Launch } from "./launch-record.ts"
import { type Brief, readBrief, type ReadBriefOptions } from "./read-brief.ts"
import { readCommitFacts } from "./recent-commits.ts"
import { readRunFacts } from "./run-table.ts"

export interface PinQuery {
  readonly place: Place
  /** Whose SESSION.md and workflows: the root, or a folder in it that keeps its own. */
  readonly stateRoot: string
  readonly ledger: LedgerState
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly harnessSessionId: string
  /** False: runs are told as they were seen to start, without their state. */
  readonly hasRunTable?: boolean
  /** Files the tools have touched up to now; those of the ledger unless they are given. */
  readonly touched?: readonly TouchedFile[]
  /** False: nothing of what the project's own files say. */
  readonly withProject?: boolean
  /** Rules that apply now; none where the host gets them in another way. */
  readonly rules?: readonly Rule[]
  /** Facts only the host knows. */
  readonly facts?: readonly Fact[]
  /** Tokens the model can hold. */
  readonly window?: number
  readonly maxTokens?: number
  readonly head?: NonNullable<ReadBriefOptions["head"]>
  /** The command is there: older history can be searched with it. */
  readonly canRecall?: boolean
  /** Whether the summary of the compaction this is made for is in the ledger already. */
  readonly isSummaryKnown?: boolean
  /** How long reading may take in all. */
  readonly leftMs?: () => number
}

export interface Pin extends Brief {
  readonly tokensAtMost: number
}

/** Never throws; what cannot be read is left out. */
export const readPin = async (query: PinQuery): Promise<Pin> => {
  const { place, ledger, environment, leftMs = () => READ_LIMITS.timeMs } = query
  const launch = readLaunch({
    stateRoot: environment["MERIDIAN_STATE_ROOT"],
    spaceId: environment["MERIDIAN_SPACE_ID"],
    projectRoot: place.root,
    harnessSessionId: query.harnessSessionId,
    timeMs: leftMs(),
  })
  const runs =
    query.hasRunTable === false
      ? runFacts([], ledger.runs)
      : readRunFacts({
          stateRoot: environment["MERIDIAN_STATE_ROOT"],
          projectRoot: place.root,
          seen: ledger.runs,
          chatId: launch?.record.chatId ?? environment["MERIDIAN_CHAT_ID"],
          spaceId: environment["MERIDIAN_SPACE_ID"],
          since: ledger.compactions.at(query.isSummaryKnown === false ? -1 : -2)?.time,
          timeMs: leftMs(),
        })
  const said = ledgerFacts(ledger, { place }).filter(({ kind }) => kind !== "run")
  const unseen = query.isSummaryKnown === false ? unseenSummaryFacts(ledger) : []
  const facts = [
    readCommitFacts(place.root, leftMs()),
    said,
    unseen,
    launchFacts(launch),
    runs,
    query.facts ?? [],
  ]
  const maxTokens = pinTokens(query.window ?? ledger.window, query.maxTokens)
  const known = facts.reduce((older, newer) => appendFacts(older, newer), [])
  const options = {
    maxTokens,
    attachments: onceEach([
      ...ruleBodies(query.rules ?? []),
      ...launchBodies(launch?.texts ?? []),
      ...handoverBody(launch),
      ...skillBodies(ledger),
    ]),
    head: query.head ?? "state",
    ...(query.canRecall === true ? { note: RECALL_NOTE } : {}),
  } as const
  if (query.withProject === false) return { ...fromFacts(known, options), tokensAtMost: maxTokens }
  const brief = await readBrief({
    ...options,
    root: query.stateRoot,
    facts: known,
    touched: query.touched ?? touchedIn(ledger, place),
    reader: "agent",
    limits: { timeMs: Math.min(READ_LIMITS.timeMs, leftMs()) },
  })
  return { ...brief, tokensAtMost: maxTokens }
}

const RECALL_NOTE =
  "Older history is not lost: search it with the MCP tool `recall` or `meridian recall WORDS`, read it with `expand`."

/** Files of the ledger as the project sees them, with when they were touched. */
export const touchedIn = ({ files }: LedgerState, place: Place): readonly TouchedFile[] =>
  files.flatMap(({ path, order, time }) => {
    const inside = projectPath(path, place)
    if (inside === undefined) return []
    return time === undefined ? [{ path: inside, order }] : [{ path: inside, order, time }]
  })

const fromFacts = (facts: readonly Fact[], options: PinnedOptions): Brief => {
  const { text, leftOut } = renderPinned(facts, options)
  return { text: "", pinned: text, mode: "generic", artifact: undefined, facts, leftOut, warnings: [] }
}

/** What the launch knows better than the conversation: the task without anybody's wrapping, the agent. */
const launchFacts = (launch: Launch | undefined): readonly Fact[] => {
  if (launch === undefined) return []
  const { task, agent } = launch.record
  return [
    ...(task === undefined ? [] : [{ kind: "task" as const, text: task, source: CONVERSATION, order: 0 }]),
    ...(agent === undefined ? [] : [{ kind: "agent" as const, text: agent, source: "launch", order: 0 }]),
    ...launch.texts
      .filter(({ kind }) => kind === "skill")
      .map(({ name }): Fact => ({
        kind: "skill",
        text: `Skill: ${name}`,
        source: "launch",
        order: 0,
        key: name,
      })),
  ]
}

/** An agent that took over knows what was done before from its first message alone: a compaction must not take that away. */
const handoverBody = (launch: Launch | undefined): readonly Attachment[] => {
  const told = launch?.handover
  const body = told === undefined ? "" : cleanBody(told.text.replace(/^# .*\n/, ""))
  return told === undefined || body === ""
    ? []
    : [{ heading: "Before you took over", body, place: told.path }]
}

/** The same text under two names is said once. */
const onceEach = (attachments: readonly Attachment[]): readonly Attachment[] =>
  attachments.filter(({ body }, index) => attachments.findIndex((other) => other.body === body) === index)

const ruleBodies = (rules: readonly Rule[]): readonly Attachment[] =>
  stableFirst(rules).map(({ path, folder, body }) => ({
    heading: `Rule: ${path}`,
    body,
    place: `${folder}/${path}`,
  }))

/** Newest first: what was loaded last is in use. */
const skillBodies = ({ skills }: LedgerState): readonly Attachment[] =>
  skills.toReversed().flatMap(({ name, body }) => {
    const text = cleanBody(readFrontMatter(body).body)
    return text === "" ? [] : [{ heading: `Skill: ${name}`, body: text }]
  })
