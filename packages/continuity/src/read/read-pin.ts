/**
 * What is pinned after a compaction, the same in every host: the ledger of the conversation, the files of the project, the
 * launch record, the run table, the applicable rules, loaded skills and the last commits. One text within one budget; empty
 * when nothing is known.
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
  /** The folder with SESSION.md and workflows: the root, or a folder inside it that keeps its own. */
  readonly stateRoot: string
  readonly ledger: LedgerState
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly harnessSessionId: string
  /** False: runs are listed as they were started, without their state. */
  readonly hasRunTable?: boolean
  /** Files that the tools have touched until now. Default: those of the ledger. */
  readonly touched?: readonly TouchedFile[]
  /** False: nothing from the project's own files. */
  readonly withProject?: boolean
  /** Rules that apply now; empty where the host gets them in another way. */
  readonly rules?: readonly Rule[]
  /** Facts that only the host knows. */
  readonly facts?: readonly Fact[]
  /** The model's context window in tokens. */
  readonly window?: number
  readonly maxTokens?: number
  readonly head?: NonNullable<ReadBriefOptions["head"]>
  /** The command is available: older history can be searched with it. */
  readonly canRecall?: boolean
  /** Whether the ledger already contains the summary of the compaction that this is made for. */
  readonly isSummaryKnown?: boolean
  /** How much time is left for reading. */
  readonly leftMs?: () => number
}

export interface Pin extends Brief {
  readonly tokensAtMost: number
}

/** Never throws. What cannot be read is left out. */
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

/** The ledger's files relative to the project, with the time they were touched. */
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

/** What the launch knows better than the conversation: the task without any wrapping, the agent. */
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

/** An agent that took over knows the earlier work only from its first message, and a compaction must not remove that. */
const handoverBody = (launch: Launch | undefined): readonly Attachment[] => {
  const told = launch?.handover
  const body = told === undefined ? "" : cleanBody(told.text.replace(/^# .*\n/, ""))
  return told === undefined || body === ""
    ? []
    : [{ heading: "Before you took over", body, place: told.path }]
}

/** Keeps one of several attachments with the same text. */
const onceEach = (attachments: readonly Attachment[]): readonly Attachment[] =>
  attachments.filter(({ body }, index) => attachments.findIndex((other) => other.body === body) === index)

const ruleBodies = (rules: readonly Rule[]): readonly Attachment[] =>
  stableFirst(rules).map(({ path, folder, body }) => ({
    heading: `Rule: ${path}`,
    body,
    place: `${folder}/${path}`,
  }))

/** Newest first: the last loaded skill is in use. */
const skillBodies = ({ skills }: LedgerState): readonly Attachment[] =>
  skills.toReversed().flatMap(({ name, body }) => {
    const text = cleanBody(readFrontMatter(body).body)
    return text === "" ? [] : [{ heading: `Skill: ${name}`, body: text }]
  })
