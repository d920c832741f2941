/**
 * What the log itself knows that must survive a compaction, folded event by event: the task, what was decided, the files
 * in hand, the runs that were started, the list of work, the agent. Said in labelled lines ("Decision: ..."), or seen in
 * what the tools did.
 */
import type { Fact, FactKind } from "@meridian/continuity/fact"
import type { Json, StoredEvent, TodoItem, UnknownEvent } from "@meridian/protocol"

export interface Ledger {
  readonly apply: (event: StoredEvent | UnknownEvent) => void
  readonly facts: () => readonly Fact[]
  /** Paths the tools touched, most recent last. */
  readonly workingSet: () => readonly string[]
}

const FILES_KEPT = 200
const RUNS_KEPT = 100
const SAID_KEPT = 200

export const createLedger = (): Ledger => {
  const files = new Map<string, number>()
  const runs = new Map<string, { readonly order: number; readonly command: string }>()
  const said = new Map<string, Fact>()
  const calls = new Map<string, { readonly tool: string; readonly input: Json | undefined }>()
  let todo: { readonly items: readonly TodoItem[]; readonly order: number } | undefined
  let agent: { readonly name: string; readonly order: number } | undefined
  let first: { readonly text: string; readonly order: number } | undefined

  const remember = <Value>(map: Map<string, Value>, key: string, value: Value, most: number): void => {
    map.delete(key)
    map.set(key, value)
    const oldest = map.keys().next().value
    if (map.size > most && oldest !== undefined) map.delete(oldest)
  }

  const hear = (text: string, order: number): void => {
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
      if (withdrawn) said.delete(identity)
      else remember(said, identity, { kind, text: words, source: "log", order }, SAID_KEPT)
    }
  }

  const apply: Ledger["apply"] = (event) => {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- most events say nothing that must survive
    switch (event.type) {
      case "session.next.created.1":
        if (event.data.agent !== undefined) agent = { name: event.data.agent, order: event.seq }
        return
      case "session.next.agent.switched.1":
        agent = { name: event.data.agent, order: event.seq }
        return
      case "session.next.prompt.admitted.1":
      case "session.next.prompted.1":
        first ??= { text: event.data.prompt.text, order: event.seq }
        hear(event.data.prompt.text, event.seq)
        return
      case "session.next.text.ended.1":
        hear(event.data.text, event.seq)
        return
      case "session.next.todo.updated.1":
        todo = { items: event.data.items, order: event.seq }
        return
      case "session.next.tool.called.1": {
        const { callID, tool, input } = event.data
        calls.set(callID, { tool, input })
        for (const path of pathsOf(tool, input)) remember(files, path, event.seq, FILES_KEPT)
        return
      }
      case "session.next.tool.success.1": {
        const call = calls.get(event.data.callID)
        calls.delete(event.data.callID)
        const command = call?.tool.toLowerCase() === "bash" ? textField(call.input, "command") : undefined
        if (command === undefined || !SPAWNS.test(command)) return
        for (const content of event.data.content)
          if (content.type === "text")
            for (const id of content.text.match(RUN_ID) ?? [])
              remember(runs, id, { order: event.seq, command: command.slice(0, 200) }, RUNS_KEPT)
        return
      }
      case "session.next.tool.failed.1":
        calls.delete(event.data.callID)
        return
      default:
        return
    }
  }

  const facts = (): readonly Fact[] => {
    const known: Fact[] = [...said.values()]
    if (first !== undefined && !known.some((fact) => fact.kind === "objective"))
      known.push({ kind: "objective", text: oneLine(first.text), source: "log", order: first.order })
    for (const [path, order] of files) known.push({ kind: "file", text: path, source: "log", order })
    for (const [id, run] of runs)
      known.push({ kind: "run", text: `${id} (${run.command})`, source: "log", order: run.order, key: id })
    if (agent !== undefined)
      known.push({ kind: "agent", text: agent.name, source: "log", order: agent.order })
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

  return { apply, facts, workingSet: () => [...files.keys()] }
}

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
