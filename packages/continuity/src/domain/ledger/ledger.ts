/**
 * The ledger: what must survive a compaction of a conversation, folded piece by piece. The task, statements that still
 * hold, files in use, started runs, the todo list, loaded skills, agent and mode. The same pieces give the same ledger,
 * however they are split into calls and whatever is stored in between.
 */
import { asObject, textAt, type JsonObject } from "@meridian/protocol"

import { commandOf, toolPaths } from "../working-set/tool-paths.ts"
import { EMPTY_LEDGER, LEDGER_LIMITS, type LedgerState, type OpenCall, type SeenRun } from "./ledger-state.ts"
import { loadedSkill, mayLoadSkill } from "./loaded-skill.ts"
import type { LedgerPiece } from "./piece.ts"
import { inventedClaims } from "./quotes.ts"
import { type Hearing, noteChanges, noteHeard } from "./said.ts"
import { sentencesOf } from "./sentence.ts"
import { type Heard, hearText } from "./statement.ts"
import { changesOfTask, isGreeting, TASK_LIMITS, taskIn } from "./task.ts"
import { isAbout, isChange, keepingTopics, type ReadTopic, topicOf } from "./topic.ts"
import { applyWorkCall, withItems, withoutItems } from "./work-list.ts"

export interface Ledger {
  /** Never throws. */
  readonly take: (piece: LedgerPiece) => void
  readonly state: () => LedgerState
}

export const openLedger = (from: LedgerState = EMPTY_LEDGER): Ledger => {
  let state = from
  const readTopic = keepingTopics()
  return {
    take: (piece) => {
      state = takePiece(state, piece, readTopic)
    },
    // The agent's last words are processed only on demand, because the next piece may show that they were a summary.
    state: () => state,
  }
}

/** Settles the state as if the conversation ended here: the agent's last words count. */
export const settleLedger = (state: LedgerState): LedgerState => settle(state, topicOf)

const settle = (state: LedgerState, readTopic: ReadTopic): LedgerState => {
  if (state.pending === undefined) return state
  const { pending, ...rest } = state
  return hear(rest, pending.text, { order: pending.order, speaker: "agent", readTopic })
}

/**
 * Recorded beside the conversation, and possibly repeated by a reader that starts in the middle. They do not count as
 * pieces.
 */
const SILENT: ReadonlySet<LedgerPiece["kind"]> = new Set([
  "agent",
  "mode",
  "window",
  "reasoning",
  "usage",
  "failed",
])

/** A command to the host is not part of the conversation either. Only some readers recognise it from the lines before. */
const isSilent = (piece: LedgerPiece): boolean =>
  SILENT.has(piece.kind) || (piece.kind === "prompt" && taskIn(piece.prompt.text) === undefined)

const takePiece = (before: LedgerState, piece: LedgerPiece, readTopic: ReadTopic): LedgerState => {
  const order = before.count + (isSilent(piece) ? 0 : 1)
  const time = "time" in piece ? piece.time : undefined
  const dated = time === undefined ? before : { ...before, time }
  const counted = { ...dated, count: order }
  const state = afterWords(counted, piece, readTopic)
  switch (piece.kind) {
    case "prompt":
      return takePrompt(state, piece.prompt.text, { order, speaker: "user", readTopic })
    case "text":
      return { ...state, pending: { text: piece.text.slice(0, LEDGER_LIMITS.pendingLength), order } }
    case "call":
      return takeCall(state, piece, order)
    case "result":
      return takeResult(state, piece, order)
    case "todo":
      return takeTodo(state, piece.items, order)
    case "summary":
      return takeSummary(state, piece.text, order)
    case "agent":
      return { ...state, agent: piece.name.slice(0, 200) }
    case "mode":
      return { ...state, mode: piece.name.slice(0, 200) }
    case "skill":
      return noteSkill(state, piece.name, piece.body, order)
    case "files":
      return touch(state, piece.paths, order)
    case "window":
      return { ...state, window: piece.tokens }
    case "reasoning":
    case "usage":
    case "failed":
      return state
  }
}

/**
 * The agent's last words are processed when something else is said or done. What is only recorded beside the conversation
 * does not trigger this.
 */
const afterWords = (state: LedgerState, piece: LedgerPiece, readTopic: ReadTopic): LedgerState => {
  switch (piece.kind) {
    case "summary":
      return withoutSummary(state, piece.text, readTopic)
    case "prompt":
    case "text":
    case "call":
    case "result":
      return settle(state, readTopic)
    case "todo":
    case "agent":
    case "mode":
    case "skill":
    case "files":
    case "window":
    case "reasoning":
    case "usage":
    case "failed":
      return state
  }
}

/** Codex records its summary twice, first as words of the agent. Nobody decided anything in it. */
const withoutSummary = (state: LedgerState, summary: string, readTopic: ReadTopic): LedgerState => {
  const { pending, ...rest } = state
  if (pending === undefined) return state
  return summary.includes(pending.text.trim()) ? rest : settle(state, readTopic)
}

const takePrompt = (state: LedgerState, text: string, hearing: Hearing): LedgerState => {
  const asked = taskIn(text)
  if (asked === undefined) return state
  const { order, readTopic } = hearing
  const known = notePrompt(state, asked, order)
  const { task } = state
  if (isGreeting(asked)) return known
  if (task === undefined) {
    const first = { text: asked.slice(0, TASK_LIMITS.length), order }
    return hear({ ...known, task: first }, asked, hearing)
  }
  const changes = changesOfTask(task.text, asked, readTopic).map((change) => ({ text: change, order }))
  const taskChanges = [...state.taskChanges, ...changes].slice(-TASK_LIMITS.changes)
  const heard = hear({ ...known, taskChanges }, asked, hearing)
  return isChange(asked) ? { ...heard, said: noteChanges(heard.said, sentencesOf(asked), hearing) } : heard
}

/** Keeps the user's words for checking summaries: the first message, and as many of the newest as fit. */
const notePrompt = (state: LedgerState, text: string, order: number): LedgerState => {
  const kept = text.slice(0, LEDGER_LIMITS.promptLength)
  const all = [...state.prompts, { text: kept, order }]
  let promptsLength = state.promptsLength + kept.length
  let dropped = text.length > LEDGER_LIMITS.promptLength ? 1 : 0
  while (
    all.length > LEDGER_LIMITS.prompts ||
    (promptsLength > LEDGER_LIMITS.promptsLength && all.length > 2)
  ) {
    promptsLength -= all.splice(1, 1)[0]?.text.length ?? 0
    dropped += 1
  }
  return { ...state, prompts: all, promptsLength, promptsDropped: state.promptsDropped + dropped }
}

const hear = (state: LedgerState, text: string, hearing: Hearing): LedgerState => {
  let { said, work } = state
  for (const heard of hearText(text, hearing.speaker)) {
    said = noteHeard(said, heard, hearing)
    if (takesBackWork(heard, hearing)) work = workWithout(work, heard.text, hearing)
  }
  return { ...state, said, work }
}

/** Only a person cancels work, in words that name no kind of statement. */
const takesBackWork = (heard: Heard, { speaker }: Hearing): boolean =>
  heard.tag === "withdrawn" && heard.kind === undefined && speaker === "user"

const workWithout = (
  work: LedgerState["work"],
  text: string,
  { readTopic }: Hearing,
): LedgerState["work"] => {
  const topic = readTopic(text)
  return { ...withoutItems(work, (content) => isAbout(topic, readTopic(content))), order: work.order }
}

type CallPiece = Extract<LedgerPiece, { kind: "call" }>
type ResultPiece = Extract<LedgerPiece, { kind: "result" }>

const takeCall = (state: LedgerState, piece: CallPiece, order: number): LedgerState => {
  const { callID, tool, input } = piece
  const touched = touch(state, toolPaths(piece), order)
  const kept = keptInput(tool, asObject(input))
  const others = withoutCall(touched.calls, callID)
  // The outcome of any other call is not needed, and most calls are others.
  if (kept === undefined && !TELLS_BY_NAME.test(tool))
    return others === touched.calls ? touched : { ...touched, calls: others }
  const call: OpenCall = { id: callID, tool, ...(kept === undefined ? {} : { input: kept }) }
  return { ...touched, calls: [...others, call].slice(-LEDGER_LIMITS.calls) }
}

const withoutCall = (calls: readonly OpenCall[], callID: string): readonly OpenCall[] =>
  calls.some(({ id }) => id === callID) ? calls.filter(({ id }) => id !== callID) : calls

/** Tools whose outcome matters for any input. */
const TELLS_BY_NAME = /^(?:todo|task|update_?plan|.*_?goal$|skill$)|(?:^|_)run_(?:spawn|continue)$/i

/** Keeps only input that is needed to read the outcome. A written file is not stored twice. */
const keptInput = (tool: string, input: JsonObject | undefined): JsonObject | undefined => {
  if (input === undefined) return undefined
  if (TELLS_BY_NAME.test(tool)) return input
  if (mayLoadSkill(tool, input)) return input
  const command = commandOf(input)
  return SPAWNS.test(command) ? { command: command.slice(0, 2_000) } : undefined
}

const takeResult = (
  state: LedgerState,
  { callID, content, failed }: ResultPiece,
  order: number,
): LedgerState => {
  const call = state.calls.find(({ id }) => id === callID)
  if (call === undefined) return state
  const settled = { ...state, calls: state.calls.filter((other) => other !== call) }
  const output = content.map(({ text }) => text ?? "").join("\n")
  if (failed === true || /^(?:unsupported call|<tool_use_error>)/.test(output)) return settled
  if (call.todo !== undefined) return { ...settled, work: { ...call.todo, order } }
  const change = applyWorkCall(settled.work, { tool: call.tool, input: call.input, output })
  if (change.tag === "changed") return { ...settled, work: { ...change.work, order } }
  if (change.tag === "unknown") return { ...settled, unknown: settled.unknown + 1 }
  const skill = loadedSkill(call.tool, call.input, output)
  if (skill !== undefined) return noteSkill(settled, skill.name, skill.body, order)
  return noteRuns(settled, call, output, order)
}

/** A tool call announces its list before it has succeeded. A list without a call counts at once. */
const takeTodo = (
  state: LedgerState,
  items: Extract<LedgerPiece, { kind: "todo" }>["items"],
  order: number,
): LedgerState => {
  const work = withItems(state.work, items)
  const open = state.calls.findLast(({ tool }) => /^(?:todo_?write|update_plan)$/i.test(tool))
  if (open === undefined) return { ...state, work: { ...work, order } }
  return { ...state, calls: state.calls.map((call) => (call === open ? { ...call, todo: work } : call)) }
}

const SPAWNS = /\bmeridian(?:\.js)?["']?\s+run\s+(?:spawn|continue)\b/
const RUN_ID = /\br[1-9][0-9]{0,8}\b/g

const noteRuns = (state: LedgerState, call: OpenCall, output: string, order: number): LedgerState => {
  const command = commandOf(call.input)
  const asked = SPAWNS.test(command)
    ? command
    : /(?:^|_)run_(?:spawn|continue)$/.test(call.tool)
      ? (textAt(call.input, "prompt") ?? call.tool)
      : undefined
  if (asked === undefined) return state
  const space = /\b(?:space_id|space)"?\s*[:=]\s*"?(s[1-9][0-9]{0,8})\b/.exec(output)?.[1]
  const ids = new Set(output.slice(0, 64 * 1024).match(RUN_ID))
  const place = space === undefined ? momentOf(state, order) : { space, ...momentOf(state, order) }
  const seenRun = (id: string): SeenRun => ({ id, command: asked.slice(0, 200), ...place })
  const seen = [...ids].slice(0, 8).map(seenRun)
  const others = state.runs.filter(({ id }) => !ids.has(id))
  return { ...state, runs: [...others, ...seen].slice(-LEDGER_LIMITS.runs) }
}

const noteSkill = (state: LedgerState, name: string, body: string, order: number): LedgerState => {
  const known = state.skills.find((skill) => skill.name === name)
  const text = body === "" ? (known?.body ?? "") : body
  const skill = { name: name.slice(0, 200), body: text.slice(0, LEDGER_LIMITS.skillBody), order }
  const others = state.skills.filter((other) => other !== known)
  return { ...state, skills: [...others, skill].slice(-LEDGER_LIMITS.skills) }
}

const touch = (state: LedgerState, paths: readonly string[], order: number): LedgerState => {
  if (paths.length === 0) return state
  const moment = momentOf(state, order)
  const files = [...state.files]
  for (const path of new Set(paths.slice(0, LEDGER_LIMITS.files).map((named) => named.slice(0, 4096)))) {
    const known = files.findIndex((file) => file.path === path)
    if (known !== -1) files.splice(known, 1)
    files.push({ path, ...moment })
  }
  return { ...state, files: files.slice(-LEDGER_LIMITS.files) }
}

const takeSummary = (state: LedgerState, text: string, order: number): LedgerState => {
  const invented =
    state.promptsDropped > 0
      ? []
      : inventedClaims(
          text,
          state.prompts.map((prompt) => prompt.text),
        )
  const summary = text.slice(0, LEDGER_LIMITS.summaryLength)
  const compaction = { ...momentOf(state, order), summary, invented }
  return { ...state, compactions: [...state.compactions, compaction].slice(-LEDGER_LIMITS.compactions) }
}

/** When something was seen: its place among the pieces and, if the source has one, the time. */
const momentOf = ({ time }: LedgerState, order: number): { readonly order: number; readonly time?: number } =>
  time === undefined ? { order } : { order, time }
