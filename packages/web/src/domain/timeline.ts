/**
 * A session, folded from its events for people to look at: rows in the order of the log, waiting inputs, open questions,
 * and the tokens of every turn. One step costs the same however long the session is.
 */
import type {
  Delivery,
  LiveEvent,
  RecordedError,
  RecordedPrompt,
  StoredEvent,
  TodoItem,
  UnknownEvent,
} from "@meridian/protocol"
import { plainText } from "@meridian/protocol"

import { fileChangeOf } from "./file-change.ts"
import { advanceProse } from "./live-prose.ts"
import { describeEvent } from "./notice.ts"
import { createRowList } from "./row-list.ts"
import {
  clip,
  summaryOfInput,
  textOfContent,
  textOfInput,
  type CompactionEnd,
  type CompactionRow,
  type ProseRow,
  type Row,
  type ToolRow,
  type TurnRow,
} from "./row.ts"
import type { TokenPoint } from "./token-series.ts"

export interface PendingInput {
  readonly id: string
  readonly text: string
  readonly delivery: Delivery
}

export interface OpenQuestion {
  readonly id: string
  /** The row of the call that asks. */
  readonly rowKey: string
  readonly action: string
  readonly resources: readonly string[]
  readonly title: string
}

export interface Timeline {
  readonly rows: readonly Row[]
  readonly points: readonly TokenPoint[]
  /** What the model is writing right now, if live fragments arrive. */
  readonly live: () => ProseRow | undefined
  readonly pending: ReadonlyMap<string, PendingInput>
  readonly questions: ReadonlyMap<string, OpenQuestion>
  readonly todo: () => readonly TodoItem[]
  readonly model: () => string | undefined
  /** Whether a turn or a call is open. */
  readonly isBusy: () => boolean
  /** The sequence of the last event: the cursor to continue from. */
  readonly seq: () => number
  readonly apply: (event: StoredEvent | UnknownEvent) => void
  readonly applyLive: (event: LiveEvent) => void
}

export const createTimeline = (): Timeline => {
  const { rows, push, find, replace } = createRowList()
  const points: TokenPoint[] = []
  const prompts = new Map<string, { readonly prompt: RecordedPrompt; readonly delivery: Delivery }>()
  const pending = new Map<string, PendingInput>()
  const questions = new Map<string, OpenQuestion>()
  const openCalls = new Set<string>()
  let openTurn: string | undefined
  let todo: readonly TodoItem[] = []
  let model: string | undefined
  let turns = 0
  let seq = 0
  let interruptSeq = 0
  let isSettlingCrash = false
  let live: ProseRow | undefined

  /** Work that ended as interrupted although nobody interrupted it: its process died. */
  const wasLost = (begun: number, error: RecordedError): boolean =>
    error.code.toUpperCase() === "INTERRUPTED" && interruptSeq < begun

  const noteCrash = (event: StoredEvent): void => {
    if (isSettlingCrash) return
    isSettlingCrash = true
    push({
      kind: "notice",
      what: "crash",
      key: `crash_${event.seq}`,
      seq: event.seq,
      time: event.time,
      text: "The process ended in the middle of this work. What may have acted is not repeated.",
    })
  }

  const forgetLive = (messageID: string): void => {
    if (live?.messageID === messageID) live = undefined
  }

  const settleTool = (row: ToolRow, change: Partial<ToolRow>, time: number): void => {
    const { requestID, ...rest } = row
    if (requestID !== undefined) questions.delete(requestID)
    openCalls.delete(row.key)
    replace({ ...rest, ended: time, ...readable(change) })
  }

  const settleTurn = (row: TurnRow, change: Partial<TurnRow>, time: number): void => {
    if (openTurn === row.messageID) openTurn = undefined
    forgetLive(row.messageID)
    replace({ ...row, ended: time, ...readable(change) })
  }

  const settleCompaction = (row: CompactionRow, change: Partial<CompactionRow>, time: number): void => {
    replace({ ...row, ended: time, ...readable(change) })
  }

  const addUser = (
    event: StoredEvent,
    messageID: string,
    prompt: RecordedPrompt,
    delivery: Delivery | undefined,
  ): void =>
    push({
      kind: "user",
      key: messageID,
      seq: event.seq,
      time: event.time,
      messageID,
      body: clip(prompt.text),
      files:
        (prompt.files?.length ?? 0) + (prompt.parts ?? []).filter(({ type }) => type !== "unreadable").length,
      ...(delivery === undefined ? {} : { delivery }),
    })

  const applyKnown = (event: StoredEvent): void => {
    const { time } = event
    const base = { seq: event.seq, time }
    switch (event.type) {
      case "session.next.created.1":
        model = event.data.model
        break
      case "session.next.prompt.admitted.1": {
        const { messageID, prompt, delivery } = event.data
        prompts.set(messageID, { prompt, delivery })
        pending.set(messageID, { id: messageID, text: clip(prompt.text).text, delivery })
        return
      }
      case "session.next.prompt.promoted.1": {
        const { messageID } = event.data
        const admitted = prompts.get(messageID)
        pending.delete(messageID)
        prompts.delete(messageID)
        if (admitted !== undefined) addUser(event, messageID, admitted.prompt, admitted.delivery)
        return
      }
      case "session.next.prompt.cancelled.1":
        pending.delete(event.data.messageID)
        prompts.delete(event.data.messageID)
        break
      case "session.next.prompted.1":
        addUser(event, event.data.messageID, event.data.prompt, undefined)
        return
      case "session.next.interrupt.requested.1":
        interruptSeq = event.seq
        break
      case "session.next.step.started.1": {
        const { assistantMessageID: messageID, agent, contextWindow } = event.data
        turns += 1
        openTurn = messageID
        model = event.data.model
        push({
          ...base,
          kind: "turn",
          key: messageID,
          messageID,
          turn: turns,
          agent,
          model,
          outcome: "running",
          retries: 0,
          ...(contextWindow === undefined ? {} : { contextWindow }),
        })
        return
      }
      case "session.next.step.ended.2": {
        const { assistantMessageID, finish, usage, cost } = event.data
        const row = find(assistantMessageID, "turn")
        if (row === undefined) return
        settleTurn(row, { outcome: "ended", finish, usage, cost }, time)
        points.push({
          kind: "turn",
          turn: row.turn,
          tokens: usage.input + usage.cacheRead + usage.cacheWrite,
          output: usage.output + usage.reasoning,
          model: row.model,
          ...(row.contextWindow === undefined ? {} : { window: row.contextWindow }),
        })
        return
      }
      case "session.next.step.failed.2": {
        const row = find(event.data.assistantMessageID, "turn")
        if (row === undefined) return
        const { error } = event.data
        const lost = wasLost(row.seq, error)
        if (lost) noteCrash(event)
        const stopped = error.code === "INTERRUPTED" ? "interrupted" : "failed"
        settleTurn(row, { outcome: lost ? "crashed" : stopped, error }, time)
        return
      }
      case "session.next.retried.1": {
        const row = find(event.data.assistantMessageID, "turn")
        if (row !== undefined) replace({ ...row, retries: row.retries + 1 })
        break
      }
      case "session.next.text.ended.1":
      case "session.next.reasoning.ended.1": {
        const { assistantMessageID: messageID, text, partial } = event.data
        forgetLive(messageID)
        push({
          ...base,
          kind: event.type === "session.next.text.ended.1" ? "text" : "reasoning",
          key: `prose_${event.seq}`,
          messageID,
          body: clip(text),
          partial: partial === true,
          live: false,
        })
        return
      }
      case "session.next.tool.called.1": {
        const { assistantMessageID: messageID, callID, tool, input, raw, hosted } = event.data
        const key = keyOfCall(messageID, callID)
        const change = fileChangeOf(event.data, input)
        openCalls.add(key)
        push({
          ...base,
          kind: "tool",
          key,
          messageID,
          callID,
          tool,
          summary: summaryOfInput(input, raw),
          input: clip(textOfInput(input, raw)),
          ...(change === undefined ? {} : { change }),
          outcome: "running",
          hosted: hosted === true,
          media: 0,
          pruned: false,
        })
        return
      }
      case "session.next.tool.success.1": {
        const { assistantMessageID, callID, content } = event.data
        const row = find(keyOfCall(assistantMessageID, callID), "tool")
        if (row === undefined) return
        const media = content.filter((part) => part.type === "media").length
        settleTool(row, { outcome: "success", output: clip(textOfContent(content)), media }, time)
        return
      }
      case "session.next.tool.failed.1": {
        const { assistantMessageID, callID, error } = event.data
        const row = find(keyOfCall(assistantMessageID, callID), "tool")
        if (row === undefined) return
        const lost = wasLost(row.seq, error)
        if (lost) noteCrash(event)
        const stopped = error.code === "interrupted" ? "interrupted" : "failed"
        settleTool(row, { outcome: lost ? "crashed" : stopped, error }, time)
        return
      }
      case "session.next.permission.asked.1": {
        const { requestID: id, assistantMessageID, callID, action, resources, title } = event.data
        const rowKey = keyOfCall(assistantMessageID, callID)
        questions.set(id, {
          id,
          rowKey,
          action: plainText(action),
          resources: resources.map(plainText),
          title: plainText(title),
        })
        const row = find(rowKey, "tool")
        if (row !== undefined) replace({ ...row, outcome: "waiting", requestID: id })
        return
      }
      case "session.next.permission.replied.1": {
        const row = find(questions.get(event.data.requestID)?.rowKey ?? "", "tool")
        questions.delete(event.data.requestID)
        if (row?.outcome === "waiting") {
          const { requestID: _answered, ...rest } = row
          replace({ ...rest, outcome: "running" })
        }
        break
      }
      case "session.next.todo.updated.1":
        todo = event.data.items
        break
      case "session.next.tool.pruned.1":
        for (const { assistantMessageID, callID } of event.data.calls) {
          const row = find(keyOfCall(assistantMessageID, callID), "tool")
          if (row !== undefined) replace({ ...row, pruned: true })
        }
        break
      case "session.next.model.switched.1":
        model = event.data.model
        break
      case "session.next.compaction.started.1": {
        const { compactionID, reason } = event.data
        push({
          ...base,
          kind: "compaction",
          key: compactionID,
          compactionID,
          reason,
          model: event.data.model,
          status: "started",
        })
        return
      }
      case "session.next.compaction.ended.2": {
        const { compactionID, facts = [], ...end } = event.data
        const row = find(compactionID, "compaction")
        if (row === undefined) return
        settleCompaction(row, { status: "ended", end: readableEnd({ ...end, facts }) }, time)
        points.push({ kind: "compaction", turn: turns, compactionID, ...end.tokens })
        return
      }
      case "session.next.compaction.failed.1": {
        const row = find(event.data.compactionID, "compaction")
        if (row === undefined) return
        if (wasLost(row.seq, event.data.error)) noteCrash(event)
        settleCompaction(row, { status: "failed", error: event.data.error }, time)
        return
      }
      case "session.next.task.started.1": {
        const { assistantMessageID, callID, sessionID, agent } = event.data
        const row = find(keyOfCall(assistantMessageID, callID), "tool")
        if (row !== undefined) replace({ ...row, child: { sessionID, agent } })
        return
      }
      case "session.next.task.ended.1": {
        const { assistantMessageID, callID, status } = event.data
        const row = find(keyOfCall(assistantMessageID, callID), "tool")
        if (row?.child !== undefined) replace({ ...row, child: { ...row.child, status } })
        return
      }
      // Bookkeeping: later events report the result.
      case "session.next.files.kept.1":
      case "session.next.undo.started.1":
        return
      case "session.next.agent.switched.1":
      case "session.next.moved.1":
      case "session.next.renamed.1":
      case "session.next.titled.1":
      case "session.next.files.missed.1":
      case "session.next.undo.ended.1":
      case "session.next.archived.1":
      case "session.next.synthetic.1":
      case "session.next.parked.1":
      case "session.next.tool.resumed.1":
      case "session.next.output.given.1":
      case "session.next.output.refused.1":
      case "session.next.repetition.noticed.1":
      case "session.next.tooling.failed.1":
      case "session.next.budget.changed.1":
      case "session.next.unparked.1":
      case "session.next.warned.1":
      case "session.next.tool.adjusted.1":
      case "session.next.epoch.started.1":
      case "session.next.context.updated.1":
      case "session.next.instruction.discovered.1":
      case "session.next.permission.revoked.1":
      case "session.next.activity.resumed.1":
      case "session.next.question.asked.1":
      case "session.next.question.replied.1":
      case "session.next.compaction.requested.1":
      case "session.next.compaction.restored.1":
      case "session.next.execution.failed.1":
        break
    }
    push(describeEvent(event))
  }

  return {
    rows,
    points,
    pending,
    questions,
    live: () => live,
    todo: () => todo,
    model: () => model,
    isBusy: () => openTurn !== undefined || openCalls.size > 0,
    seq: () => seq,
    apply: (event) => {
      // A reconnect may repeat events we already have.
      if (event.seq <= seq) return
      seq = event.seq
      if (event.type === "unknown") return push(describeEvent(event))
      if (!SETTLING.has(event.type)) isSettlingCrash = false
      applyKnown(event)
    },
    applyLive: (event) => {
      // A late fragment of a turn that has ended is ignored, because the log has its text.
      if ("assistantMessageID" in event.data && event.data.assistantMessageID === openTurn)
        live = advanceProse(live, event)
    },
  }
}

/** What a new process records first when it takes over: outcomes for what the old one left. */
const SETTLING: ReadonlySet<string> = new Set([
  "session.next.tool.failed.1",
  "session.next.step.failed.2",
  "session.next.compaction.failed.1",
])

const readable = <Change extends { readonly error?: RecordedError }>(change: Change): Change =>
  change.error === undefined
    ? change
    : { ...change, error: { ...change.error, message: plainText(change.error.message) } }

const readableEnd = (end: CompactionEnd): CompactionEnd => ({
  ...end,
  summary: plainText(end.summary),
  recent: plainText(end.recent),
  removedQuotes: end.removedQuotes.map(plainText),
  facts: end.facts.map((fact) => ({ ...fact, text: plainText(fact.text) })),
})

const keyOfCall = (messageID: string, callID: string): string => `${messageID}/${callID}`
