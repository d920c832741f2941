/**
 * What can be undone: the prompts of the conversation, the trees of files kept around their work, and the undos so far.
 * Nothing leaves the log: an undo is an event, and so is its redo.
 */
import type { Location } from "@meridian/protocol"

import { LIMITS } from "../limits.ts"
import type { LoggedEvent } from "../logged-event.ts"

/** A tree of files, kept before or after a turn. */
export interface FileRecord {
  readonly seq: number
  /** The message of the turn. */
  readonly messageID: string
  readonly moment: "before" | "after"
  readonly scope: "all" | "named"
  readonly tree: string
  readonly paths: readonly string[]
  readonly skipped: readonly string[]
  readonly shared: boolean
  /** Paths that other sessions changed in that time. */
  readonly others: readonly string[]
  /** The place of the tree. */
  readonly location: Location | undefined
}

export interface PromptMark {
  readonly id: string
  /** The sequence of its promotion. */
  readonly seq: number
}

export interface UndoMark {
  readonly undoID: string
  /** The undo took back everything from here to `through`. */
  readonly from: number
  readonly through: number
  readonly conversation: boolean
  readonly files: boolean
  /** Prompts that left the conversation. */
  readonly prompts: readonly PromptMark[]
  readonly trees: FileTreePair | undefined
  readonly location: Location | undefined
}

export interface FileTreePair {
  readonly now: string
  readonly wanted: string
}

/** Begun but not recorded as done: its process was lost on the way. */
export interface OpenUndo extends Omit<UndoMark, "through" | "prompts"> {
  readonly action: "undo" | "redo"
  readonly redoes: string | undefined
}

export interface Undoing {
  readonly location: Location | undefined
  /** Prompts of the conversation, oldest first. */
  readonly prompts: readonly PromptMark[]
  readonly records: readonly FileRecord[]
  /** Turns whose files could not be kept, with the reason. */
  readonly missed: readonly { readonly seq: number; readonly reason: string }[]
  /** Undos in force, oldest first. */
  readonly undone: readonly UndoMark[]
  /** How many of the newest undos a redo may bring back: 0 once a person has said something else. */
  readonly redoable: number
  readonly open: OpenUndo | undefined
}

export const NO_UNDOING: Undoing = {
  location: undefined,
  prompts: [],
  records: [],
  missed: [],
  undone: [],
  redoable: 0,
  open: undefined,
}

/** Copies its lists once per batch of events. One copy per event would make a long log quadratic. */
export const foldUndoing = (undoing: Undoing, events: readonly LoggedEvent[]): Undoing => {
  const draft = openDraft(undoing)
  for (const event of events) foldOne(draft, event)
  return draft.value()
}

const foldOne = (draft: Draft, event: LoggedEvent): void => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest neither keeps nor takes back
  switch (event.type) {
    case "session.next.created.1":
    case "session.next.moved.1":
      return draft.set({ location: event.data.location })
    case "session.next.prompt.promoted.1":
    case "session.next.prompted.1":
      if (draft.isRedoable()) draft.set({ redoable: 0 })
      return draft.add("prompts", { id: event.data.messageID, seq: event.seq })
    case "session.next.files.kept.1": {
      const { assistantMessageID: messageID, moment, scope, tree } = event.data
      const { paths = [], skipped = [], shared = false, others = [] } = event.data
      const { seq } = event
      const location = draft.location()
      return draft.add("records", {
        seq,
        messageID,
        moment,
        scope,
        tree,
        paths,
        skipped,
        shared,
        others,
        location,
      })
    }
    case "session.next.files.missed.1":
      return draft.add("missed", { seq: event.seq, reason: event.data.reason })
    case "session.next.undo.started.1": {
      const { undoID, action, from, conversation, files, redoes, trees } = event.data
      const location = draft.location()
      return draft.set({ open: { undoID, action, from, conversation, files, redoes, trees, location } })
    }
    case "session.next.undo.ended.1":
      return draft.set(event.data.action === "undo" ? undone(draft.now(), event) : redone(draft.now(), event))
    default:
      return
  }
}

type Ended = Extract<LoggedEvent, { readonly type: "session.next.undo.ended.1" }>

const undone = (now: Undoing, { seq, data }: Ended): Partial<Undoing> => {
  const { undoID, from, conversation, files } = data
  const gone = conversation ? now.prompts.filter((prompt) => prompt.seq >= from) : []
  const trees = now.open?.undoID === undoID ? now.open.trees : undefined
  const { location } = now
  const mark = { undoID, from, through: seq, conversation, files, prompts: gone, trees, location }
  return {
    prompts: gone.length === 0 ? now.prompts : now.prompts.filter((prompt) => prompt.seq < from),
    undone: [...now.undone, mark],
    redoable: now.redoable + 1,
    open: undefined,
  }
}

const redone = (now: Undoing, { data: { redoes } }: Ended): Partial<Undoing> => {
  const mark = now.undone.find(({ undoID }) => undoID === redoes)
  return {
    prompts: [...now.prompts, ...(mark?.prompts ?? [])].toSorted((left, right) => left.seq - right.seq),
    undone: now.undone.filter((one) => one !== mark),
    redoable: Math.max(0, now.redoable - 1),
    open: undefined,
  }
}

interface Lists {
  readonly prompts: PromptMark
  readonly records: FileRecord
  readonly missed: Undoing["missed"][number]
}

type Draft = ReturnType<typeof openDraft>

const openDraft = (before: Undoing) => {
  const added: { [Name in keyof Lists]: Lists[Name][] } = { prompts: [], records: [], missed: [] }
  let fields = before
  const flush = (): Undoing => {
    const { prompts, records, missed } = added
    if (prompts.length > 0) fields = { ...fields, prompts: [...fields.prompts, ...prompts.splice(0)] }
    if (records.length > 0) fields = { ...fields, records: newest([...fields.records, ...records.splice(0)]) }
    if (missed.length > 0) fields = { ...fields, missed: newest([...fields.missed, ...missed.splice(0)]) }
    return fields
  }
  return {
    add: <Name extends keyof Lists>(name: Name, item: Lists[Name]): void => {
      added[name].push(item)
    },
    set: (changes: Partial<Undoing>): void => {
      fields = { ...flush(), ...changes }
    },
    location: (): Location | undefined => fields.location,
    isRedoable: (): boolean => fields.redoable > 0,
    /** Includes everything added. */
    now: flush,
    value: flush,
  }
}

/** Older records no longer have a tree. */
const newest = <Item>(list: readonly Item[]): readonly Item[] =>
  list.length > 2 * LIMITS.keptRecords ? list.slice(-LIMITS.keptRecords) : list

/** A span of the log that an undo took out of the conversation and no redo has brought back. */
export interface Span {
  readonly from: number
  readonly through: number
}

/** `events`: every undo event of a session, oldest first. Other events are ignored. */
export const readSpans = (events: readonly LoggedEvent[]): readonly Span[] => {
  const spans: (Span & { readonly undoID: string })[] = []
  for (const event of events) {
    if (event.type !== "session.next.undo.ended.1" || !event.data.conversation) continue
    const { undoID, action, from, redoes } = event.data
    if (action === "undo") spans.push({ undoID, from, through: event.seq })
    else
      spans.splice(
        spans.findIndex((span) => span.undoID === redoes),
        1,
      )
  }
  return spans
}

export const isWithin = (spans: readonly Span[], seq: number): boolean =>
  spans.some(({ from, through }) => seq >= from && seq <= through)
