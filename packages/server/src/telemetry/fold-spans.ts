/**
 * Turns the log of one session into spans. A fold: no I/O, no clock. A trace is one activity. It begins with the input that
 * opens it (or with a turn without input) and ends with a turn that asks for no more tools, with a failure or with an
 * interruption. Its turns, calls and compactions are children of its root, `invoke_agent`, which comes last.
 */
import type { SessionEvent, SharedStep } from "@meridian/engine"
import type { DurableEventData, Prompt, RecordedError, RecordedUsage, StoredEvent } from "@meridian/protocol"

import { toolText } from "./content.ts"
import {
  openSpanMaker,
  usageAttributes,
  type Activity,
  type Call,
  type CallOutcome,
  type Compaction,
  type Turn,
} from "./make-spans.ts"
import { spanIdOf, traceIdOf, type Span } from "./span.ts"

export interface SpanFold {
  /** Returns the spans that ended with this event, children before their parent. */
  readonly event: (event: SessionEvent) => readonly Span[]
  /** Returns a step that is in no log as part of the open activity; empty when none is open. */
  readonly beside: (step: SharedStep) => readonly Span[]
  /** Ends what is still open as interrupted, because the process that worked on it is gone. */
  readonly close: () => readonly Span[]
  /** Everything up to here is in returned spans. A later fold may begin after it. */
  readonly settledSeq: () => number
}

export interface SpanFoldOptions {
  readonly session: string
  /** Whether spans include what was said and done. */
  readonly content: boolean
}

const NO_USAGE: RecordedUsage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

export const openSpanFold = ({ session, content }: SpanFoldOptions): SpanFold => {
  const make = openSpanMaker(session, content)
  const admitted = new Map<string, Prompt>()
  const traces = new Map<string, string>()
  const calls = new Map<string, Call>()
  const questions = new Map<string, string>()
  const compactions = new Map<string, Compaction>()
  let activity: Activity | undefined
  let turn: Turn | undefined
  let agent = "build"
  let last = 0
  let settled = 0

  /** The request that brought its first input may already have a trace. */
  const begin = ({ seq, time }: StoredEvent, trace?: string): Activity => ({
    traceId: trace?.slice(3, 35) ?? traceIdOf(session, seq),
    ...(trace === undefined ? {} : { parentId: trace.slice(36, 52) }),
    rootId: spanIdOf(session, seq, "agent"),
    start: time,
    agent,
    last: time,
    turns: 0,
    toolFailures: 0,
    retries: 0,
    cost: 0,
    usage: NO_USAGE,
    prompts: [],
    answer: "",
    isInterrupted: false,
  })

  /** The root span, after anything in it that has not ended. */
  const end = (of: Activity, error?: string): readonly Span[] => {
    const open = [...calls.values()].map((call) =>
      make.call(of, call, { time: of.last, error: "interrupted" }),
    )
    activity = undefined
    calls.clear()
    return [...open, make.root(of, error)]
  }

  /** The activity is over when the last turn asked for nothing more or the work was interrupted, and nothing is open. */
  const mayEnd = (isLastTurn: boolean): readonly Span[] => {
    if (activity === undefined || turn !== undefined || calls.size > 0) return []
    if (activity.isInterrupted) return end(activity, INTERRUPTED)
    return isLastTurn ? end(activity) : []
  }

  const endTurn = (data: DurableEventData["session.next.step.ended.2"], time: number): readonly Span[] => {
    if (turn === undefined || activity === undefined) return []
    const ended = turn
    turn = undefined
    const { usage, cost, finish } = data
    activity.usage = addUsage(activity.usage, usage)
    activity.cost += cost
    if (ended.text !== "") activity.answer = ended.text
    return [make.turn(activity, ended, { time, usage, cost, finish }), ...mayEnd(ended.calls === 0)]
  }

  const fail = (error: RecordedError, time: number, failed: Turn | undefined): readonly Span[] => {
    if (activity === undefined) return []
    turn = undefined
    if (isInterruption(error.code)) activity.isInterrupted = true
    const spans = failed === undefined ? [] : [make.turn(activity, failed, { time, error })]
    return [...spans, ...end(activity, error.message)]
  }

  const endCall = (data: CallKey, outcome: CallOutcome): readonly Span[] => {
    const key = keyOf(data)
    const call = calls.get(key)
    calls.delete(key)
    if (call === undefined || activity === undefined) return []
    if (outcome.error !== undefined) activity.toolFailures += 1
    // Only an interruption, or the death of its process, ends a call like this.
    if (isInterruption(outcome.error)) activity.isInterrupted = true
    return [make.call(activity, call, outcome), ...mayEnd(false)]
  }

  const endCompaction = (
    data: { readonly compactionID: string },
    outcome: Parameters<typeof make.compaction>[2],
  ): readonly Span[] => {
    const compaction = compactions.get(data.compactionID)
    compactions.delete(data.compactionID)
    return compaction === undefined ? [] : [make.compaction(activity, compaction, outcome)]
  }

  /** While a person is asked, the call is not working. */
  const waitFor = (requestID: string, data: CallKey, time: number): void => {
    const call = calls.get(keyOf(data))
    questions.set(requestID, keyOf(data))
    if (call !== undefined) call.askedAt = time
  }

  const take = (event: StoredEvent): readonly Span[] => {
    const { time, seq } = event
    switch (event.type) {
      case "session.next.created.1":
        agent = event.data.agent ?? agent
        return []
      case "session.next.agent.switched.1":
        agent = event.data.agent
        return []
      case "session.next.prompt.admitted.1":
        if (content) admitted.set(event.data.messageID, event.data.prompt)
        if (event.data.trace !== undefined) traces.set(event.data.messageID, event.data.trace)
        return []
      case "session.next.prompt.cancelled.1":
        admitted.delete(event.data.messageID)
        traces.delete(event.data.messageID)
        return []
      case "session.next.prompt.promoted.1": {
        const prompt = admitted.get(event.data.messageID)
        admitted.delete(event.data.messageID)
        activity ??= begin(event, traces.get(event.data.messageID))
        traces.delete(event.data.messageID)
        if (prompt !== undefined) activity.prompts.push(prompt)
        return []
      }
      case "session.next.step.started.1": {
        const { model, agent: by } = event.data
        activity ??= begin(event)
        activity.agent = by
        activity.turns += 1
        const spanId = spanIdOf(session, seq, "chat")
        turn = { spanId, start: time, model, agent: by, events: [], calls: 0, text: "" }
        return []
      }
      case "session.next.retried.1": {
        const { attempt, error } = event.data
        if (activity !== undefined) activity.retries += 1
        const attributes = { "meridian.attempt": attempt, "error.type": error.code }
        turn?.events.push({ name: "retry", time, attributes })
        return []
      }
      case "session.next.parked.1":
      case "session.next.activity.resumed.1":
        // Its step failed before, which ended the span. A turn that continues begins a new one.
        return []
      case "session.next.text.ended.1":
        if (turn !== undefined && content) turn.text += event.data.text
        return []
      case "session.next.step.ended.2":
        return endTurn(event.data, time)
      case "session.next.step.failed.2":
        return fail(event.data.error, time, turn)
      case "session.next.execution.failed.1":
        return fail(event.data.error, time, undefined)
      case "session.next.interrupt.requested.1":
        if (activity !== undefined) activity.isInterrupted = true
        return mayEnd(false)
      case "session.next.tool.called.1": {
        const { tool, input, hosted } = event.data
        // A call that runs at the provider is part of its turn.
        if (activity === undefined || hosted === true) return []
        if (turn !== undefined) turn.calls += 1
        const spanId = spanIdOf(session, seq, "tool")
        calls.set(keyOf(event.data), { spanId, start: time, tool, input, askedAt: undefined, waitedMs: 0 })
        return []
      }
      case "session.next.tool.success.1":
        return endCall(event.data, { time, output: toolText(event.data.content) })
      case "session.next.tool.failed.1": {
        const { code, message } = event.data.error
        return endCall(event.data, { time, error: code, message })
      }
      case "session.next.question.asked.1": {
        const { requestID, assistantMessageID, callID } = event.data
        if (assistantMessageID !== undefined && callID !== undefined)
          waitFor(requestID, { assistantMessageID, callID }, time)
        return []
      }
      case "session.next.permission.asked.1":
        waitFor(event.data.requestID, event.data, time)
        return []
      case "session.next.question.replied.1":
      case "session.next.permission.replied.1": {
        const call = calls.get(questions.get(event.data.requestID) ?? "")
        questions.delete(event.data.requestID)
        if (call?.askedAt !== undefined) call.waitedMs += time - call.askedAt
        return []
      }
      case "session.next.compaction.started.1": {
        const { compactionID, reason } = event.data
        const [spanId, traceId] = [spanIdOf(session, seq, "compaction"), traceIdOf(session, seq)]
        compactions.set(compactionID, { spanId, traceId, start: time, reason })
        return []
      }
      case "session.next.compaction.ended.2": {
        const { method, tokens, usage, cost } = event.data
        if (activity !== undefined) {
          activity.usage = addUsage(activity.usage, usage)
          activity.cost += cost
        }
        const attributes = {
          ...usageAttributes(usage),
          "meridian.cost_usd": cost,
          "meridian.compaction.method": method,
          "meridian.compaction.tokens_before": tokens.before,
          "meridian.compaction.tokens_after": tokens.after,
        }
        return endCompaction(event.data, { time, attributes })
      }
      case "session.next.compaction.failed.1":
        return endCompaction(event.data, { time, error: event.data.error.message })
      case "session.next.output.given.1":
        return mayEnd(true)
      // Events that take no time and say nothing about the work.
      case "session.next.output.refused.1":
      case "session.next.model.switched.1":
      case "session.next.moved.1":
      case "session.next.renamed.1":
      case "session.next.titled.1":
      case "session.next.files.kept.1":
      case "session.next.undo.started.1":
      case "session.next.files.missed.1":
      case "session.next.undo.ended.1":
      case "session.next.archived.1":
      case "session.next.prompted.1":
      case "session.next.synthetic.1":
      case "session.next.task.started.1":
      case "session.next.task.ended.1":
      case "session.next.reasoning.ended.1":
      case "session.next.tool.resumed.1":
      case "session.next.repetition.noticed.1":
      case "session.next.tooling.failed.1":
      case "session.next.budget.changed.1":
      case "session.next.unparked.1":
      case "session.next.warned.1":
      case "session.next.tool.adjusted.1":
      case "session.next.todo.updated.1":
      case "session.next.epoch.started.1":
      case "session.next.context.updated.1":
      case "session.next.instruction.discovered.1":
      case "session.next.tool.pruned.1":
      case "session.next.permission.revoked.1":
      case "session.next.compaction.requested.1":
      case "session.next.compaction.restored.1":
        return []
    }
  }

  return {
    event: (event) => {
      if (event.type === "synced") return []
      last = event.seq
      if (event.type === "unknown") return []
      if (activity !== undefined) activity.last = event.time
      const spans = take(event)
      if (activity === undefined && compactions.size === 0) settled = event.seq
      return spans
    },
    beside: ({ name, seq, start, end: ended, attributes }) =>
      activity === undefined
        ? []
        : [
            {
              traceId: activity.traceId,
              spanId: spanIdOf(session, seq, `${name} ${start}`),
              parentSpanId: turn?.spanId ?? activity.rootId,
              name,
              kind: "internal",
              start,
              end: ended,
              attributes: { "gen_ai.conversation.id": session, ...attributes },
            },
          ],
    close: () => {
      if (activity === undefined) return []
      activity.isInterrupted = true
      const [of, open] = [activity, turn]
      turn = undefined
      settled = last
      const error = { code: "interrupted", message: INTERRUPTED }
      return [
        ...(open === undefined ? [] : [make.turn(of, open, { time: of.last, error })]),
        ...end(of, INTERRUPTED),
      ]
    },
    settledSeq: () => settled,
  }
}

const INTERRUPTED = "The work was interrupted."

const isInterruption = (code: string | undefined): boolean => code?.toUpperCase() === "INTERRUPTED"

type CallKey = { readonly assistantMessageID: string; readonly callID: string }

const keyOf = (call: CallKey): string => `${call.assistantMessageID}/${call.callID}`

const addUsage = (one: RecordedUsage, other: RecordedUsage): RecordedUsage => ({
  input: one.input + other.input,
  output: one.output + other.output,
  reasoning: one.reasoning + other.reasoning,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
})
