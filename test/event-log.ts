/** Events as a log returns them, for tests of what is folded from them. */
import {
  messageId,
  permissionRequestId,
  sessionId,
  type DurableEvent,
  type StoredEvent,
} from "@meridian/protocol"

export const logged = (events: readonly DurableEvent[], after = 0): readonly StoredEvent[] =>
  events.map((event, index) => ({ ...event, seq: after + index + 1, time: 0 }))

/** The events most tests need, with short names for their ids. */
export const EVENTS = {
  created: (directory = "/project"): DurableEvent => ({
    type: "session.next.created.1",
    data: { sessionID: sessionId("ses_1"), location: { directory } },
  }),
  admitted: (
    id: string,
    more: { readonly delivery?: "queue"; readonly resume?: false } = {},
  ): DurableEvent => ({
    type: "session.next.prompt.admitted.1",
    data: {
      messageID: messageId(id),
      prompt: { text: `say ${id}` },
      delivery: more.delivery ?? "steer",
      resume: more.resume ?? true,
    },
  }),
  promoted: (id: string, admittedSeq: number): DurableEvent => ({
    type: "session.next.prompt.promoted.1",
    data: { messageID: messageId(id), admittedSeq },
  }),
  cancelled: (id: string): DurableEvent => ({
    type: "session.next.prompt.cancelled.1",
    data: { messageID: messageId(id) },
  }),
  started: (step: string): DurableEvent => ({
    type: "session.next.step.started.1",
    data: { assistantMessageID: messageId(step), agent: "build", model: "m" },
  }),
  ended: (step: string): DurableEvent => ({
    type: "session.next.step.ended.2",
    data: { assistantMessageID: messageId(step), finish: "stop", usage: USAGE, cost: 0 },
  }),
  failed: (step: string): DurableEvent => ({
    type: "session.next.step.failed.2",
    data: { assistantMessageID: messageId(step), error: { code: "x", message: "broke" } },
  }),
  text: (step: string, text: string): DurableEvent => ({
    type: "session.next.text.ended.1",
    data: { assistantMessageID: messageId(step), text },
  }),
  called: (
    step: string,
    callID: string,
    more: { readonly tool?: string; readonly hosted?: true } = {},
  ): DurableEvent => ({
    type: "session.next.tool.called.1",
    data: { assistantMessageID: messageId(step), callID, tool: "act", input: {}, ...more },
  }),
  succeeded: (step: string, callID: string, text = "done"): DurableEvent => ({
    type: "session.next.tool.success.1",
    data: { assistantMessageID: messageId(step), callID, content: [{ type: "text", text }] },
  }),
  toolFailed: (step: string, callID: string): DurableEvent => ({
    type: "session.next.tool.failed.1",
    data: { assistantMessageID: messageId(step), callID, error: { code: "failed", message: "no" } },
  }),
  resumed: (step: string, callID: string): DurableEvent => ({
    type: "session.next.tool.resumed.1",
    data: { assistantMessageID: messageId(step), callID },
  }),
  asked: (step: string, callID: string, requestID: string): DurableEvent => ({
    type: "session.next.permission.asked.1",
    data: {
      requestID: permissionRequestId(requestID),
      assistantMessageID: messageId(step),
      callID,
      action: "act",
      resources: ["*"],
      title: "Act",
      project: "/project",
      always: ["*"],
    },
  }),
  replied: (requestID: string, parked: boolean): DurableEvent => ({
    type: "session.next.permission.replied.1",
    data: { requestID: permissionRequestId(requestID), reply: "once", parked },
  }),
  compacted: (id: string, kept: readonly string[], through: number): DurableEvent => ({
    type: "session.next.compaction.ended.2",
    data: {
      compactionID: id,
      reason: "auto",
      method: "model",
      summary: `summary ${id}`,
      recent: "",
      range: { from: 1, through },
      kept,
      messages: 1,
      tokens: { before: 100, after: 40 },
      usage: USAGE,
      cost: 0,
      removedQuotes: [],
    },
  }),
  baseline: (baseline: string): DurableEvent => ({
    type: "session.next.epoch.started.1",
    data: { baseline, snapshot: { date: { value: "mon", removal: "no date" } }, cause: "first" },
  }),
  updated: (id: string, text: string): DurableEvent => ({
    type: "session.next.context.updated.1",
    data: {
      messageID: messageId(id),
      text,
      changed: { date: { value: "tue", removal: "no date" } },
      removed: [],
    },
  }),
} as const

const USAGE = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 }
