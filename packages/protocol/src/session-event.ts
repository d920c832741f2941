/**
 * The events of a session. A stored type is name + version; a changed meaning is a new version beside the old one, never
 * an edit. `DURABLE_EVENTS` and `LiveEventData` are two tables: only a row of the first can be appended to a log, only
 * rows of the first have a sequence number, and no cursor can point at a row of the second.
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

/** The data of every stored type this version reads. */
export const DURABLE_EVENTS = {
  "session.next.created.1": objectOf(
    { sessionID: SESSION_ID, location: LOCATION },
    {
      agent: STRING,
      model: STRING,
      title: STRING,
      /** A fork: which session it was copied from, how far, and when. */
      parent: objectOf(
        { sessionID: SESSION_ID, through: COUNT, time: COUNT },
        {
          /** The message it was to end with. */
          at: STRING,
        },
      ),
      /** A child: the call that began it, how deep it lies, and what caps its rights. */
      task: objectOf(
        {
          sessionID: SESSION_ID,
          messageID: MESSAGE_ID,
          callID: STRING,
          /** 1 for the child of a session of a person. */
          depth: COUNT,
          /** Of the parent and of all above it: their rules hold, too. */
          agents: listOf(STRING),
        },
        {
          /** Only these, where the parent may use no others. */
          tools: listOf(STRING),
          /** Its result comes as an input of the parent. */
          background: BOOLEAN,
        },
      ),
      /** What becomes of its work when the process is lost; else the agent or the engine says. */
      recovery: RECOVERY,
      /** What it may use up before a person is asked; its agent and the engine may say less. */
      caps: RECORDED_CAPS,
      /** An import: the kind of its source, what the conversation is called there, and which state of it was read. */
      imported: objectOf({ format: STRING, id: STRING, digest: STRING }),
    },
  ),
  "session.next.agent.switched.1": objectOf({ agent: STRING }),
  "session.next.model.switched.1": objectOf({ model: STRING }),
  "session.next.moved.1": objectOf({ location: LOCATION }),
  "session.next.renamed.1": objectOf({ title: STRING }),
  /** By a model that was asked for a title. It changes none that a person gave. */
  "session.next.titled.1": objectOf({ title: STRING, model: STRING, usage: RECORDED_USAGE, cost: NUMBER }),
  /** Put away, or taken out again. It changes nothing but where lists show the session. */
  "session.next.archived.1": objectOf({ archived: BOOLEAN }),
  "session.next.prompt.admitted.1": objectOf(
    {
      messageID: MESSAGE_ID,
      prompt: RECORDED_PROMPT,
      delivery: DELIVERY,
      /** False: waits for an explicit wake, run or prompt, also after a restart. */
      resume: BOOLEAN,
    },
    {
      ...RECORDED_OVERRIDES_FIELDS,
      /** Of the request that brought it, as `traceparent` has it: the work goes on with that trace, on whichever node. */
      trace: STRING,
    },
  ),
  "session.next.prompt.promoted.1": objectOf({ messageID: MESSAGE_ID, admittedSeq: COUNT }),
  "session.next.prompt.cancelled.1": objectOf({ messageID: MESSAGE_ID }),
  /** A prompt that was visible elsewhere before it came here (imports, the bridge of seed 004). */
  "session.next.prompted.1": objectOf({ messageID: MESSAGE_ID, prompt: PROMPT }),
  /** A message of the program that embeds the engine, visible at once: nobody wrote it, and it asks for no work. */
  "session.next.synthetic.1": objectOf({ messageID: MESSAGE_ID, text: STRING }),
  "session.next.interrupt.requested.1": objectOf({}),
  "session.next.step.started.1": objectOf(
    { assistantMessageID: MESSAGE_ID, agent: STRING, model: STRING },
    {
      /** The settings of the model that were chosen by name. */
      variant: STRING,
      /** Tokens the model takes; absent in older logs. */
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
    /** The attempt that failed, from 1. */
    attempt: COUNT,
    delayMs: NUMBER,
    error: RECORDED_ERROR,
  }),
  /** The session waits for its provider; whoever has the store open goes on when the time comes. */
  "session.next.parked.1": objectOf({
    /** The step that failed. */
    assistantMessageID: MESSAGE_ID,
    reason: oneOf("limit"),
    /** Milliseconds since 1970. */
    until: NUMBER,
    /** When the first wait of those in a row began. */
    since: NUMBER,
    /** How many in a row, from 1. */
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
      /** Parsed; absent when the model's text was not JSON, then `raw` has it. */
      input: ANY,
      raw: STRING,
      /** The provider runs it itself and reports the result. */
      hosted: BOOLEAN,
      /** Absent in older logs, and of tools that do not say. */
      kind: TOOL_KIND,
      metadata: ANY_OBJECT,
    },
  ),
  /** The call has a session of its own, and may be taken up again: it finds that session. */
  "session.next.task.started.1": objectOf(
    { assistantMessageID: MESSAGE_ID, callID: STRING, sessionID: SESSION_ID, agent: STRING, title: STRING },
    { background: BOOLEAN },
  ),
  /** That session has settled: how, and what it used up. */
  "session.next.task.ended.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    callID: STRING,
    sessionID: SESSION_ID,
    status: oneOf("done", "failed", "interrupted"),
    usage: RECORDED_USAGE,
    cost: NUMBER,
    turns: COUNT,
  }),
  /** A call that waited for a permission when its process died is started after all. */
  "session.next.tool.resumed.1": objectOf({ assistantMessageID: MESSAGE_ID, callID: STRING }),
  "session.next.tool.success.1": objectOf(
    { assistantMessageID: MESSAGE_ID, callID: STRING, content: listOf(RECORDED_CONTENT) },
    {
      structured: ANY,
      outputPath: STRING,
      /** Hosted tools: the provider's own result and its metadata, kept apart from the call's. */
      result: ANY,
      metadata: ANY_OBJECT,
    },
  ),
  "session.next.tool.failed.1": objectOf(
    { assistantMessageID: MESSAGE_ID, callID: STRING, error: RECORDED_ERROR },
    { result: ANY, metadata: ANY_OBJECT },
  ),
  /** The work asked for a value, and here it is. It ends the activity. */
  "session.next.output.given.1": objectOf({ assistantMessageID: MESSAGE_ID, value: ANY }),
  /** What the model gave as that value does not fit. */
  "session.next.output.refused.1": objectOf({ assistantMessageID: MESSAGE_ID, problem: STRING }),
  "session.next.repetition.noticed.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    callID: STRING,
    tool: STRING,
    count: COUNT,
  }),
  /** Something that was added to the engine does not work: the work goes on without it. */
  "session.next.tooling.failed.1": objectOf(
    { kind: oneOf("mcp", "extension"), name: STRING, error: RECORDED_ERROR },
    { hook: STRING },
  ),
  /** An extension changed what a call is made with; the call itself stays as the model wrote it. */
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
      /** Whose approvals an "always" joins. */
      project: STRING,
      detail: ANY_OBJECT,
    },
  ),
  "session.next.permission.replied.1": objectOf(
    {
      requestID: PERMISSION_REQUEST_ID,
      reply: PERMISSION_REPLY,
      /** Answered while nobody waited: the call may be started again, it had not acted. */
      parked: BOOLEAN,
    },
    {
      message: STRING,
      /** "always": which approvals are saved, for which project. */
      saved: objectOf({ project: STRING, action: STRING, resources: listOf(STRING) }),
    },
  ),
  /** A saved approval no longer counts. Recorded in every session that had saved it. */
  "session.next.permission.revoked.1": objectOf({ project: STRING, action: STRING, resource: STRING }),
  /** The process of an activity was lost, and it goes on: the same work, in whichever process takes it up. */
  "session.next.activity.resumed.1": objectOf({
    /** Of the input that opened it. */
    activityID: MESSAGE_ID,
    /** From 1, counted since its last progress. */
    attempt: COUNT,
  }),
  /** Only a person can say. With a call, the call waits for the answer; without one, the session does. */
  "session.next.question.asked.1": objectOf(
    {
      requestID: QUESTION_ID,
      kind: QUESTION_KIND,
      text: STRING,
      choices: listOf(QUESTION_CHOICE),
      /** Words that are no choice are an answer, too. */
      other: BOOLEAN,
      /** Several choices may be taken together. */
      multiple: BOOLEAN,
    },
    { assistantMessageID: MESSAGE_ID, callID: STRING, detail: ANY_OBJECT },
  ),
  "session.next.question.replied.1": objectOf(
    {
      requestID: QUESTION_ID,
      /** Labels of choices, or words. */
      answer: listOf(STRING),
      /** Answered while nobody waited: the call may be started again, or the session goes on. */
      parked: BOOLEAN,
    },
    { assistantMessageID: MESSAGE_ID, callID: STRING },
  ),
  /** A person has set what the session may use up; what is not said stays as it was. */
  "session.next.budget.changed.1": objectOf({ caps: RECORDED_CAPS }),
  /** An answer came, or a time, and nothing was left to go on with: it waits no longer. */
  "session.next.unparked.1": objectOf({}),
  /** People are told, and of budgets and compactions the agent, too, by a change of context beside it. */
  "session.next.warned.1": objectOf(
    { about: oneOf("budget", "price", "compaction"), text: STRING },
    {
      /** How much of which cap is used up. */
      told: listOf(
        objectOf({ measure: oneOf("cost", "tokens", "turns", "timeMs"), cap: NUMBER, percent: NUMBER }),
      ),
      /** A model whose price is not known, so that no cap on cost holds. */
      unpriced: STRING,
    },
  ),
  /** A baseline comes into force: what the model is told first, and the values it was made from. */
  "session.next.epoch.started.1": objectOf({
    baseline: STRING,
    snapshot: CONTEXT_SNAPSHOT,
    cause: oneOf("first", "compaction"),
  }),
  /** Context changed: one chronological message; the snapshot advances with it. */
  "session.next.context.updated.1": objectOf({
    messageID: MESSAGE_ID,
    text: STRING,
    changed: CONTEXT_SNAPSHOT,
    removed: listOf(STRING),
  }),
  /** A file of instructions found beside something that was read. */
  "session.next.instruction.discovered.1": objectOf({ path: STRING }),
  /** Old tool results the model is not shown any more; they stay in the log. */
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
      /** Estimate of the request that led to it. */
      tokens: NUMBER,
    },
    {
      /** The provider reported far more than we weigh, and was believed: what we weigh. */
      weighed: NUMBER,
    },
  ),
  "session.next.compaction.ended.2": objectOf(
    {
      compactionID: STRING,
      reason: COMPACTION_REASON,
      /** By a model, extracted from the log because no model could, or by an extension. */
      method: COMPACTION_METHOD,
      summary: STRING,
      /** Newest part of what was replaced, word for word as far as it fits. */
      recent: STRING,
      /** Events this checkpoint stands for. */
      range: EVENT_RANGE,
      /** Messages at or before `range.through` that stay real messages. */
      kept: listOf(STRING),
      messages: COUNT,
      tokens: TOKENS_AROUND,
      usage: RECORDED_USAGE,
      cost: NUMBER,
      /** What the summary claimed a person said, and nobody had said. */
      removedQuotes: listOf(STRING),
    },
    {
      /** Why the model's summary was not used. */
      fallback: STRING,
      facts: listOf(RECORDED_FACT),
    },
  ),
  "session.next.compaction.failed.1": objectOf({ compactionID: STRING, error: RECORDED_ERROR }),
  /** Goes back to an older checkpoint, or to the whole history. */
  "session.next.compaction.restored.1": objectOf({}, { compactionID: STRING }),
  /**
   * The files of the place as they stood before a turn first changed any of them, or when it had: a tree in a store of objects.
   * Before and after have the same scope: all files of the place, or those that calls named.
   */
  "session.next.files.kept.1": objectOf(
    { assistantMessageID: MESSAGE_ID, moment: MOMENT, scope: oneOf("all", "named"), tree: STRING },
    {
      /** Of scope "named": relative to the top of the place. A file that is not in the tree was not there. */
      paths: listOf(STRING),
      /** Too large, or not to be read: in neither tree as they stand. */
      skipped: listOf(STRING),
      /** Other sessions ran commands here in the same moment: whose a change is, nobody knows. */
      shared: BOOLEAN,
      /** Files that other sessions changed in the meantime: not this one's work. */
      others: listOf(STRING),
    },
  ),
  /** They could not be kept: what the turn does to files cannot be taken back. */
  "session.next.files.missed.1": objectOf({
    assistantMessageID: MESSAGE_ID,
    moment: MOMENT,
    reason: STRING,
  }),
  /** What one or more prompts led to is about to be taken back, or an undo is. Recorded before a file is touched. */
  "session.next.undo.started.1": objectOf(
    {
      undoID: STRING,
      action: UNDO_ACTION,
      /** Of the promotion of the first prompt concerned. */
      from: COUNT,
      conversation: BOOLEAN,
      files: BOOLEAN,
    },
    {
      /** The undo that is taken back. */
      redoes: STRING,
      /** The files concerned, as they stand and as they become. */
      trees: objectOf({ now: STRING, wanted: STRING }),
    },
  ),
  /** It is done. From here on the conversation is without what was said since `from`, or has it again. */
  "session.next.undo.ended.1": objectOf(
    {
      undoID: STRING,
      action: UNDO_ACTION,
      from: COUNT,
      conversation: BOOLEAN,
      files: BOOLEAN,
      /** How many files became what they were. */
      changed: COUNT,
      /** Files that stayed as they are, because somebody changed them meanwhile. */
      left: listOf(STRING),
    },
    { redoes: STRING },
  ),
  /** The drain ended in a way no step can tell: a limit was reached, a model is missing, context is unavailable. */
  "session.next.execution.failed.1": objectOf({ error: RECORDED_ERROR }),
} as const

export type DurableType = keyof typeof DURABLE_EVENTS

export type DurableEventData = { readonly [Type in DurableType]: TypeOf<(typeof DURABLE_EVENTS)[Type]> }

/** What is appended. Passing a delta here is a type error, not a review comment. */
export type DurableEvent = {
  readonly [Type in DurableType]: { readonly type: Type; readonly data: DurableEventData[Type] }
}[DurableType]

/** What is read back. */
export type StoredEvent = DurableEvent & { readonly seq: number; readonly time: number }

/** A row this version cannot read: skipped, visibly. */
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

/** Stands where a replay ended and live tailing begins. */
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

/** A fragment for connected readers: no seq, moves no cursor, gone after a reconnect. */
export type LiveEvent = {
  readonly [Type in LiveType]: { readonly type: Type; readonly data: LiveEventData[Type] }
}[LiveType]
