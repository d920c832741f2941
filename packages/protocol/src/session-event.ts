/**
 * The events of a session. A stored type is name + version; a changed meaning is a new version beside the old one, never an
 * edit. `DURABLE_EVENTS` and `LiveEventData` are two tables: only events of the first can be appended to a log and have a
 * sequence, and no cursor can point at one of the second.
 */
import { RECORDED_CAPS } from "./caps.ts"
import { MESSAGE_ID, PERMISSION_REQUEST_ID, QUESTION_ID, SESSION_ID } from "./id-shape.ts"
import type { MessageId } from "./id.ts"
import { RECORDED_OVERRIDES_FIELDS } from "./prompt-overrides.ts"
import {
  COMPACTION_METHOD,
  COMPACTION_REASON,
  CONTEXT_SNAPSHOT,
  DELIVERY,
  EVENT_RANGE,
  LOCATION,
  PERMISSION_REPLY,
  PROMPT,
  RECORDED_PROMPT,
  QUESTION_CHOICE,
  QUESTION_KIND,
  RECORDED_CONTENT,
  RECORDED_ERROR,
  RECORDED_FACT,
  RECORDED_USAGE,
  MOMENT,
  RECOVERY,
  TODO_ITEM,
  TOOL_KIND,
  TOKENS_AROUND,
  UNDO_ACTION,
} from "./recorded.ts"
import {
  ANY,
  ANY_OBJECT,
  BOOLEAN,
  COUNT,
  listOf,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  type TypeOf,
} from "./shape/shape.ts"

/** The data of every stored type that this version reads. */
export const DURABLE_EVENTS = {
  "session.next.created.1": objectOf(
    { sessionID: SESSION_ID, location: LOCATION },
    {
      agent: STRING,
      model: STRING,
      title: STRING,
      /** Set for a fork: the session it was copied from, how far, and when. */
      parent: objectOf(
        { sessionID: SESSION_ID, through: COUNT, time: COUNT },
        {
          /** The requested last message. */
          at: STRING,
        },
      ),
      /** Set for a child: the call that began it, its depth, and what limits its rights. */
      task: objectOf(
        {
          sessionID: SESSION_ID,
          messageID: MESSAGE_ID,
          callID: STRING,
          /** 1 for a child of a person's session. */
          depth: COUNT,
          /** The agents of the parent and of all above it. Their rules apply too. */
          agents: listOf(STRING),
        },
        {
          /** The only tools it may use, when the parent is limited too. */
          tools: listOf(STRING),
          /** Its result arrives as an input of the parent. */
          background: BOOLEAN,
        },
      ),
      /** What becomes of its work when the process is lost. Default: the policy of the agent or the engine. */
      recovery: RECOVERY,
      /** What it may use up before a person is asked. Its agent and the engine may set lower caps. */
      caps: RECORDED_CAPS,
      /** Set for an import: the kind of source, the conversation's name there, and the state of it that was read. */
      imported: objectOf({ format: STRING, id: STRING, digest: STRING }),
    },
  ),
  "session.next.agent.switched.1": objectOf({ agent: STRING }),
  "session.next.model.switched.1": objectOf({ model: STRING }),
  "session.next.moved.1": objectOf({ location: LOCATION }),
  "session.next.renamed.1": objectOf({ title: STRING }),
  /** A title from a model that was asked for one. It never replaces a title that a person gave. */
  "session.next.titled.1": objectOf({ title: STRING, model: STRING, usage: RECORDED_USAGE, cost: NUMBER }),
  /** Archived or brought back. This changes only where lists show the session. */
  "session.next.archived.1": objectOf({ archived: BOOLEAN }),
  "session.next.prompt.admitted.1": objectOf(
    {
      messageID: MESSAGE_ID,
      prompt: RECORDED_PROMPT,
      delivery: DELIVERY,
      /** False: waits for an explicit wake, run or prompt, even after a restart. */
      resume: BOOLEAN,
    },
    {
      ...RECORDED_OVERRIDES_FIELDS,
      /** The `traceparent` of the request that brought it. The work continues that trace, on any node. */
      trace: STRING,
    },
  ),
  "session.next.prompt.promoted.1": objectOf({ messageID: MESSAGE_ID, admittedSeq: COUNT }),
  "session.next.prompt.cancelled.1": objectOf({ messageID: MESSAGE_ID }),
  /** A prompt that was visible elsewhere before it came here (imports, the bridge of seed 004). */
  "session.next.prompted.1": objectOf({ messageID: MESSAGE_ID, prompt: PROMPT }),
  /** A message of the embedding program, visible at once. No person wrote it, and it starts no work. */
  "session.next.synthetic.1": objectOf({ messageID: MESSAGE_ID, text: STRING }),
  "session.next.interrupt.requested.1": objectOf({}),
  "session.next.step.started.1": objectOf(
    { assistantMessageID: MESSAGE_ID, agent: STRING, model: STRING },
    {
      /** The model variant that was chosen. */
      variant: STRING,
      /** The model's context window in tokens. Older logs lack it. */
      contextWindow: NUMBER,
    },
  ),
  "session.next.step.ended.2": objectOf(
    { assistantMessageID: MESSAGE_ID, finish: STRING, usage: RECORDED_USAGE, cost: NUMBER },
    { metadata: ANY_OBJECT },
  ),
  "session.next.step.failed.2": objectOf({ assistantMessageID: MESSAGE_ID, error: RECORDED_ERROR }),
  "session.next.retried.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    /** The number of the failed attempt, from 1. */
    attempt: COUNT,
    delayMs: NUMBER,
    error: RECORDED_ERROR,
  }),
  /** The session waits for its provider. Any process with the store open resumes it when the time comes. */
  "session.next.parked.1": objectOf({
    /** The failed step. */
    assistantMessageID: MESSAGE_ID,
    reason: oneOf("limit"),
    /** Milliseconds since 1970. */
    until: NUMBER,
    /** When the first wait in the row began. */
    since: NUMBER,
    /** How many waits in a row, from 1. */
    count: COUNT,
    error: RECORDED_ERROR,
  }),
  "session.next.text.ended.1": objectOf(
    { assistantMessageID: MESSAGE_ID, text: STRING },
    {
      metadata: ANY_OBJECT,
      /** The stream broke or was interrupted inside this text. */
      partial: BOOLEAN,
    },
  ),
  "session.next.reasoning.ended.1": objectOf(
    { assistantMessageID: MESSAGE_ID, text: STRING },
    { metadata: ANY_OBJECT, partial: BOOLEAN },
  ),
  "session.next.tool.called.1": objectOf(
    { assistantMessageID: MESSAGE_ID, callID: STRING, tool: STRING },
    {
      /** The parsed arguments. Absent when the model's text was not JSON; then `raw` has the text. */
      input: ANY,
      raw: STRING,
      /** The provider runs it itself and reports the result. */
      hosted: BOOLEAN,
      /** Absent in older logs, and for tools that declare none. */
      kind: TOOL_KIND,
      metadata: ANY_OBJECT,
    },
  ),
  /** The call's work has its own session. The call may be restarted, because it finds that session again. */
  "session.next.task.started.1": objectOf(
    { assistantMessageID: MESSAGE_ID, callID: STRING, sessionID: SESSION_ID, agent: STRING, title: STRING },
    { background: BOOLEAN },
  ),
  /** That session has settled: its status, and what it used up. */
  "session.next.task.ended.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    callID: STRING,
    sessionID: SESSION_ID,
    status: oneOf("done", "failed", "interrupted"),
    usage: RECORDED_USAGE,
    cost: NUMBER,
    turns: COUNT,
  }),
  /** A call that waited for a permission when its process died is restarted. */
  "session.next.tool.resumed.1": objectOf({ assistantMessageID: MESSAGE_ID, callID: STRING }),
  "session.next.tool.success.1": objectOf(
    { assistantMessageID: MESSAGE_ID, callID: STRING, content: listOf(RECORDED_CONTENT) },
    {
      structured: ANY,
      outputPath: STRING,
      /** For hosted tools: the provider's own result and metadata, separate from the call's. */
      result: ANY,
      metadata: ANY_OBJECT,
    },
  ),
  "session.next.tool.failed.1": objectOf(
    { assistantMessageID: MESSAGE_ID, callID: STRING, error: RECORDED_ERROR },
    { result: ANY, metadata: ANY_OBJECT },
  ),
  /** The value that the work was asked for. It ends the activity. */
  "session.next.output.given.1": objectOf({ assistantMessageID: MESSAGE_ID, value: ANY }),
  /** The model's answer does not fit the requested form. */
  "session.next.output.refused.1": objectOf({ assistantMessageID: MESSAGE_ID, problem: STRING }),
  "session.next.repetition.noticed.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    callID: STRING,
    tool: STRING,
    count: COUNT,
  }),
  /** An extension or an MCP server does not work. The session continues without it. */
  "session.next.tooling.failed.1": objectOf(
    { kind: oneOf("mcp", "extension"), name: STRING, error: RECORDED_ERROR },
    { hook: STRING },
  ),
  /** An extension changed the input of a call. The recorded call stays as the model wrote it. */
  "session.next.tool.adjusted.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    callID: STRING,
    extension: STRING,
    input: ANY,
  }),
  "session.next.todo.updated.1": objectOf({ items: listOf(TODO_ITEM) }),
  "session.next.permission.asked.1": objectOf(
    {
      requestID: PERMISSION_REQUEST_ID,
      assistantMessageID: MESSAGE_ID,
      callID: STRING,
      action: STRING,
      resources: listOf(STRING),
      title: STRING,
      always: listOf(STRING),
    },
    {
      /** The project whose approvals an "always" joins. */
      project: STRING,
      detail: ANY_OBJECT,
    },
  ),
  "session.next.permission.replied.1": objectOf(
    {
      requestID: PERMISSION_REQUEST_ID,
      reply: PERMISSION_REPLY,
      /** Answered while no call was waiting. The call may be restarted, because it has not acted. */
      parked: BOOLEAN,
    },
    {
      message: STRING,
      /** For "always": the saved approvals and their project. */
      saved: objectOf({ project: STRING, action: STRING, resources: listOf(STRING) }),
    },
  ),
  /** A saved approval was revoked. Recorded in every session that saved it. */
  "session.next.permission.revoked.1": objectOf({ project: STRING, action: STRING, resource: STRING }),
  /** An activity whose process was lost is resumed: the same work, in any process. */
  "session.next.activity.resumed.1": objectOf({
    /** The id of the input that opened it. */
    activityID: MESSAGE_ID,
    /** From 1, counted since the last progress. */
    attempt: COUNT,
  }),
  /** A question for a person. With a call, the call waits for the answer; without one, the session waits. */
  "session.next.question.asked.1": objectOf(
    {
      requestID: QUESTION_ID,
      kind: QUESTION_KIND,
      text: STRING,
      choices: listOf(QUESTION_CHOICE),
      /** Free text is accepted as an answer too. */
      other: BOOLEAN,
      /** More than one choice may be taken. */
      multiple: BOOLEAN,
    },
    { assistantMessageID: MESSAGE_ID, callID: STRING, detail: ANY_OBJECT },
  ),
  "session.next.question.replied.1": objectOf(
    {
      requestID: QUESTION_ID,
      /** Labels of choices, or free text. */
      answer: listOf(STRING),
      /** Answered while no call was waiting. The call may be restarted, or the session continues. */
      parked: BOOLEAN,
    },
    { assistantMessageID: MESSAGE_ID, callID: STRING },
  ),
  /** A person has set what the session may use up. Caps that are not named stay unchanged. */
  "session.next.budget.changed.1": objectOf({ caps: RECORDED_CAPS }),
  /** An answer or a time came, but no work was left to continue. The session no longer waits. */
  "session.next.unparked.1": objectOf({}),
  /** A warning for people. For budgets and compactions the agent is told too, by a context update. */
  "session.next.warned.1": objectOf(
    { about: oneOf("budget", "price", "compaction"), text: STRING },
    {
      /** How much of which cap is used up. */
      told: listOf(
        objectOf({ measure: oneOf("cost", "tokens", "turns", "timeMs"), cap: NUMBER, percent: NUMBER }),
      ),
      /** A model without a known price, for which a cap on cost has no effect. */
      unpriced: STRING,
    },
  ),
  /** A baseline comes into force: the first text for the model, and the values behind it. */
  "session.next.epoch.started.1": objectOf({
    baseline: STRING,
    snapshot: CONTEXT_SNAPSHOT,
    cause: oneOf("first", "compaction"),
  }),
  /** Context changed: one message at its place in time, and the snapshot advances with it. */
  "session.next.context.updated.1": objectOf({
    messageID: MESSAGE_ID,
    text: STRING,
    changed: CONTEXT_SNAPSHOT,
    removed: listOf(STRING),
  }),
  /** An instruction file found beside a file that was read. */
  "session.next.instruction.discovered.1": objectOf({ path: STRING }),
  /** Old tool results that the model no longer sees. They stay in the log. */
  "session.next.tool.pruned.1": objectOf({
    calls: listOf(objectOf({ assistantMessageID: MESSAGE_ID, callID: STRING })),
    tokens: NUMBER,
  }),
  "session.next.compaction.requested.1": objectOf({}),
  "session.next.compaction.started.1": objectOf(
    {
      compactionID: STRING,
      reason: COMPACTION_REASON,
      model: STRING,
      /** The estimated tokens of the request that led to it. */
      tokens: NUMBER,
    },
    {
      /** Our own estimate, when the provider reported far more and was believed. */
      weighed: NUMBER,
    },
  ),
  "session.next.compaction.ended.2": objectOf(
    {
      compactionID: STRING,
      reason: COMPACTION_REASON,
      /** Written by a model, extracted from the log because no model could, or supplied by an extension. */
      method: COMPACTION_METHOD,
      summary: STRING,
      /** The newest part of what was replaced, verbatim as far as it fits. */
      recent: STRING,
      /** The events that this checkpoint replaces. */
      range: EVENT_RANGE,
      /** Messages at or before `range.through` that stay real messages. */
      kept: listOf(STRING),
      messages: COUNT,
      tokens: TOKENS_AROUND,
      usage: RECORDED_USAGE,
      cost: NUMBER,
      /** Quotes that the summary attributed to a person who never said them. */
      removedQuotes: listOf(STRING),
    },
    {
      /** Why the model's summary was not used. */
      fallback: STRING,
      facts: listOf(RECORDED_FACT),
    },
  ),
  "session.next.compaction.failed.1": objectOf({ compactionID: STRING, error: RECORDED_ERROR }),
  /** Returns to an older checkpoint, or to the whole history. */
  "session.next.compaction.restored.1": objectOf({}, { compactionID: STRING }),
  /**
   * The files of the place before a turn first changed any of them, or after the turn: a tree in an object store. Before
   * and after have the same scope: all files of the place, or those that calls named.
   */
  "session.next.files.kept.1": objectOf(
    { assistantMessageID: MESSAGE_ID, moment: MOMENT, scope: oneOf("all", "named"), tree: STRING },
    {
      /** For scope "named": paths relative to the top of the place. A file that is missing from the tree did not exist. */
      paths: listOf(STRING),
      /** Files in neither tree, because they are too large or unreadable. */
      skipped: listOf(STRING),
      /** Other sessions ran commands here at the same time, so the origin of a change is unknown. */
      shared: BOOLEAN,
      /** Files that other sessions changed in that time. They are not this session's work. */
      others: listOf(STRING),
    },
  ),
  /** The files could not be kept, so what the turn does to them cannot be undone. */
  "session.next.files.missed.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    moment: MOMENT,
    reason: STRING,
  }),
  /**
   * The work of one or more prompts is about to be undone, or an undo to be redone. Recorded before any file is touched.
   */
  "session.next.undo.started.1": objectOf(
    {
      undoID: STRING,
      action: UNDO_ACTION,
      /** The sequence at which the first of these prompts was promoted. */
      from: COUNT,
      conversation: BOOLEAN,
      files: BOOLEAN,
    },
    {
      /** The undo that is being redone. */
      redoes: STRING,
      /** Trees of the affected files: as they are, and as wanted. */
      trees: objectOf({ now: STRING, wanted: STRING }),
    },
  ),
  /** The undo or redo is done. From here on the conversation lacks what was said since `from`, or has it again. */
  "session.next.undo.ended.1": objectOf(
    {
      undoID: STRING,
      action: UNDO_ACTION,
      from: COUNT,
      conversation: BOOLEAN,
      files: BOOLEAN,
      /** How many files were changed. */
      changed: COUNT,
      /** Files left unchanged, because somebody changed them in that time. */
      left: listOf(STRING),
    },
    { redoes: STRING },
  ),
  /**
   * The drain ended for a reason that belongs to no step: a limit was reached, a model is missing, context is unavailable.
   */
  "session.next.execution.failed.1": objectOf({ error: RECORDED_ERROR }),
} as const

export type DurableType = keyof typeof DURABLE_EVENTS

export type DurableEventData = { readonly [Type in DurableType]: TypeOf<(typeof DURABLE_EVENTS)[Type]> }

/** What can be appended. Passing a delta here does not compile. */
export type DurableEvent = {
  readonly [Type in DurableType]: { readonly type: Type; readonly data: DurableEventData[Type] }
}[DurableType]

/** What is read back. */
export type StoredEvent = DurableEvent & { readonly seq: number; readonly time: number }

/** A row that this version cannot read. It is skipped visibly. */
export interface UnknownEvent {
  readonly seq: number
  readonly time: number
  readonly type: "unknown"
  readonly data: {
    readonly storedType: string
    readonly reason: "unknown-type" | "unreadable"
    /** Which field does not fit, and how: "`usage.input` must be a whole number of at least 0, not text". */
    readonly problem?: string
  }
}

/** Marks where a replay ended and live tailing begins. */
export interface SyncedMarker {
  readonly type: "synced"
  readonly data: { readonly after: number }
  readonly time: number
}

export interface LiveEventData {
  readonly "text.delta": { readonly assistantMessageID: MessageId; readonly delta: string }
  readonly "reasoning.delta": { readonly assistantMessageID: MessageId; readonly delta: string }
  readonly "tool.input.delta": {
    readonly assistantMessageID: MessageId
    readonly callID: string
    readonly delta: string
  }
  readonly "compaction.delta": { readonly compactionID: string; readonly delta: string }
}

export type LiveType = keyof LiveEventData

/** A fragment for connected readers: no sequence, moves no cursor, gone after a reconnect. */
export type LiveEvent = {
  readonly [Type in LiveType]: { readonly type: Type; readonly data: LiveEventData[Type] }
}[LiveType]
