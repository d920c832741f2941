/**
 * What the log itself knows that must survive a compaction: the task, what was decided, the files in hand, the runs that
 * were started, the list of work, the agent. People and models say it in labelled lines ("Decision: ..."), or it shows in
 * what the tools did.
 */
import type { Fact, FactKind } from "@meridian/continuity/fact"
import type { Json, TodoItem } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"

export interface Ledger {
  /** Paths the tools touched, with the event that did, most recent last. */
  readonly files: ReadonlyMap<string, number>
  readonly runs: ReadonlyMap<string, { readonly order: number; readonly command: string }>
  readonly said: ReadonlyMap<string, Fact>
  /** Calls whose outcome is still to come. */
  readonly calls: ReadonlyMap<string, { readonly tool: string; readonly input: Json | undefined }>
  readonly todo: { readonly items: readonly TodoItem[]; readonly order: number } | undefined
  readonly agent: { readonly name: string; readonly order: number } | undefined
  readonly first: { readonly text: string; readonly order: number } | undefined
}

const FILES_KEPT = 200
const RUNS_KEPT = 100
const SAID_KEPT = 200

export const EMPTY_LEDGER: Ledger = {
  files: new Map(),
  runs: new Map(),
  said: new Map(),
  calls: new Map(),
  todo: undefined,
  agent: undefined,
  first: undefined,
}

export const foldLedger = (ledger: Ledger, events: readonly LoggedEvent[]): Ledger => {
  const draft = openDraft(ledger)
  for (const event of events) foldOne(draft, event)
  return draft.value()
}

const foldOne = (draft: Draft, event: LoggedEvent): void => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- most events say nothing that must survive
  switch (event.type) {
    case "session.next.created.1":
      if (event.data.agent !== undefined) draft.setAgent(event.data.agent, event.seq)
      return
    case "session.next.agent.switched.1":
      return draft.setAgent(event.data.agent, event.seq)
    case "session.next.prompt.admitted.1":
    case "session.next.prompted.1":
      draft.hearFirst(event.data.prompt.text, event.seq)
      return hear(draft, event.data.prompt.text, event.seq)
    case "session.next.text.ended.1":
      return hear(draft, event.data.text, event.seq)
    case "session.next.todo.updated.1":
      return draft.setTodo(event.data.items, event.seq)
    case "session.next.tool.called.1": {
      const { callID, tool, input } = event.data
      draft.calls().set(callID, { tool, input })
      for (const path of pathsOf(tool, input)) remember(draft.files(), path, event.seq, FILES_KEPT)
      return
    }
    case "session.next.tool.success.1": {
      const { callID } = event.data
      const calls = draft.calls()
      const call = calls.get(callID)
      calls.delete(callID)
      const command = call?.tool.toLowerCase() === "bash" ? textField(call.input, "command") : undefined
      if (command === undefined || !SPAWNS.test(command)) return
      for (const content of event.data.content)
        if (content.type === "text")
          for (const id of content.text.match(RUN_ID) ?? [])
            remember(draft.runs(), id, { order: event.seq, command: command.slice(0, 200) }, RUNS_KEPT)
      return
    }
    case "session.next.tool.failed.1":
      draft.calls().delete(event.data.callID)
      return
    default:
      return
  }
}

const hear = (draft: Draft, text: string, order: number): void => {
  // Most texts declare nothing; looking for the colon first keeps the fold cheap.
  if (!text.includes(":")) return
  for (const line of text.split("\n")) {
    const match = DECLARED.exec(line)
    const label = match?.[1]?.toLowerCase()
    const kind = label === undefined ? undefined : KINDS[label]
    const words = match?.[3]?.trim()
    if (kind === undefined || words === undefined || words === "") continue
    const withdrawn = match?.[2] !== undefined
    const identity = SINGLE.has(kind) ? kind : `${kind}:${words.toLowerCase()}`
    if (withdrawn) draft.said().delete(identity)
    else remember(draft.said(), identity, { kind, text: words, source: "log", order }, SAID_KEPT)
  }
}

const remember = <Value>(map: Map<string, Value>, key: string, value: Value, most: number): void => {
  map.delete(key)
  map.set(key, value)
  const oldest = map.keys().next().value
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

type Draft = ReturnType<typeof openDraft>

/** Copies a list when the first event of a batch changes it. */
const openDraft = (before: Ledger) => {
  let { todo, agent, first } = before
  const files = copyLater(before.files)
  const runs = copyLater(before.runs)
  const said = copyLater(before.said)
  const calls = copyLater(before.calls)
  return {
    files: files.change,
    runs: runs.change,
    said: said.change,
    calls: calls.change,
    setTodo: (items: readonly TodoItem[], order: number): void => {
      todo = { items, order }
    },
    setAgent: (name: string, order: number): void => {
      agent = { name, order }
    },
    hearFirst: (text: string, order: number): void => {
      first ??= { text, order }
    },
    value: (): Ledger => ({
      files: files.value(),
      runs: runs.value(),
      said: said.value(),
      calls: calls.value(),
      todo,
      agent,
      first,
    }),
  }
}

const copyLater = <Value>(before: ReadonlyMap<string, Value>) => {
  let copy: Map<string, Value> | undefined
  return { change: () => (copy ??= new Map(before)), value: () => copy ?? before }
}

/** Oldest first. */
export const ledgerFacts = ({ said, first, files, runs, agent, todo }: Ledger): readonly Fact[] => {
  const known: Fact[] = [...said.values()]
  if (first !== undefined && !known.some((fact) => fact.kind === "objective"))
    known.push({ kind: "objective", text: oneLine(first.text), source: "log", order: first.order })
  for (const [path, order] of files) known.push({ kind: "file", text: path, source: "log", order })
  for (const [id, run] of runs)
    known.push({ kind: "run", text: `${id} (${run.command})`, source: "log", order: run.order, key: id })
  if (agent !== undefined) known.push({ kind: "agent", text: agent.name, source: "log", order: agent.order })
  for (const item of todo?.items ?? [])
    if (item.status !== "cancelled")
      known.push({
        kind: item.status === "completed" ? "completed" : "todo",
        text: item.status === "in_progress" ? `${item.content} (in progress)` : item.content,
        source: "log",
        order: todo?.order ?? 0,
      })
  return known.toSorted((left, right) => left.order - right.order)
}

/** Paths the session works with, most recent last. */
export const workingSet = ({ files }: Ledger): readonly string[] => [...files.keys()]

const KINDS: Readonly<Record<string, FactKind>> = {
  objective: "objective",
  goal: "objective",
  decision: "decision",
  blocker: "blocker",
  rule: "rule",
  constraint: "rule",
  stage: "stage",
  "next action": "next-action",
  next: "next-action",
}

const SINGLE: ReadonlySet<FactKind> = new Set<FactKind>(["objective", "stage", "next-action"])

/** `- **Decision (cancelled)**: keep the old export` */
const DECLARED =
  /^\s*(?:[-*]\s+)?\**(objective|goal|decision|blocker|rule|constraint|stage|next action|next)(\s*\((?:cancelled|withdrawn|superseded|resolved)\))?\**\s*:\**\s*(.{1,500})$/i

const SPAWNS = /\bmeridian\s+run\s+(?:spawn|continue)\b/
const RUN_ID = /\br[0-9]{1,9}\b/g

const textField = (input: Json | undefined, name: string): string | undefined => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined
  const value: unknown = Object.entries(input).find(([key]) => key === name)?.[1]
  return typeof value === "string" ? value : undefined
}

/** Ours, and as they are called in conversations that were imported. */
const EDITS = /^(?:read|edit|write|multiedit|notebookedit)$/i
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm

const pathsOf = (tool: string, input: Json | undefined): readonly string[] => {
  if (tool === "apply_patch") {
    const patch =
      textField(input, "patch") ?? textField(input, "patchText") ?? textField(input, "input") ?? ""
    return [...patch.matchAll(PATCHED)].flatMap((match) => (match[1] === undefined ? [] : [match[1].trim()]))
  }
  if (!EDITS.test(tool)) return []
  const path = textField(input, "path") ?? textField(input, "filePath") ?? textField(input, "file_path")
  return path === undefined ? [] : [path]
}

const oneLine = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, " ").trim()
  return flat.length > 300 ? `${flat.slice(0, 300)}...` : flat
}
