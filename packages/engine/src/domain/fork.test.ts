import {
  messageId,
  permissionRequestId,
  sessionId,
  type DurableEvent,
  type StoredEvent,
} from "@meridian/protocol"
import { describe, expect, test } from "vitest"

import { rewriteEvent, surveySource } from "./fork.ts"

const created: DurableEvent = {
  type: "session.next.created.1",
  data: { sessionID: sessionId("ses_1"), location: { directory: "/x" } },
}
const admitted = (id: string): DurableEvent => ({
  type: "session.next.prompt.admitted.1",
  data: { messageID: messageId(id), prompt: { text: id }, delivery: "queue", resume: true },
})
const promoted = (id: string, admittedSeq: number): DurableEvent => ({
  type: "session.next.prompt.promoted.1",
  data: { messageID: messageId(id), admittedSeq },
})
const cancelled = (id: string): DurableEvent => ({
  type: "session.next.prompt.cancelled.1",
  data: { messageID: messageId(id) },
})
const assistantMessageID = messageId("msg_a")
const started: DurableEvent = {
  type: "session.next.step.started.1",
  data: { assistantMessageID, agent: "build", model: "m" },
}
const ended: DurableEvent = {
  type: "session.next.step.ended.2",
  data: {
    assistantMessageID,
    finish: "stop",
    usage: { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    cost: 0,
  },
}
const called: DurableEvent = {
  type: "session.next.tool.called.1",
  data: { assistantMessageID, callID: "c", tool: "bash", input: {} },
}
const settled: DurableEvent = {
  type: "session.next.tool.success.1",
  data: { assistantMessageID, callID: "c", content: [] },
}
const requested: DurableEvent = { type: "session.next.compaction.requested.1", data: {} }
const compacting: DurableEvent = {
  type: "session.next.compaction.started.1",
  data: { compactionID: "cmp_1", reason: "manual", model: "m", tokens: 1 },
}
const compacted: DurableEvent = {
  type: "session.next.compaction.ended.2",
  data: {
    compactionID: "cmp_1",
    reason: "manual",
    method: "model",
    summary: "s",
    recent: "",
    range: { from: 1, through: 4 },
    kept: ["msg_k"],
    messages: 1,
    tokens: { before: 2, after: 1 },
    usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    cost: 0,
    removedQuotes: [],
  },
}

const log = (...events: readonly DurableEvent[]): readonly StoredEvent[] =>
  events.map((event, index) => Object.assign({ seq: index + 1, time: 7 }, event))

const planOf = (...events: readonly DurableEvent[]) => {
  const survey = surveySource()
  for (const event of log(...events)) survey.look(event)
  return survey.plan()
}

describe("a plan", () => {
  test.each([
    ["a settled log goes whole", [created, admitted("a"), promoted("a", 2), started, ended], 5, []],
    ["an open step stays behind", [created, admitted("a"), promoted("a", 2), started], 3, []],
    ["an open call takes its step along", [created, started, called, ended], 1, []],
    ["a settled call does not", [created, started, called, ended, settled], 5, []],
    ["an input that waits is left out of the middle", [created, admitted("a"), started, ended], 4, [2]],
    [
      "one that was promoted behind the boundary waits at it",
      [created, admitted("a"), started, promoted("a", 2)],
      2,
      [2],
    ],
    ["a cancelled one is history", [created, admitted("a"), cancelled("a")], 3, []],
    ["a compaction that was asked for is left out", [created, requested, started, ended], 4, [2]],
    ["one that began is not cut in half", [created, requested, compacting], 2, [2]],
    ["one that ended goes whole", [created, requested, compacting, compacted], 4, []],
  ] as const)("%s", (_name, events, through, left) => {
    expect(planOf(...events)).toEqual({ through, left })
  })

  test("what this version cannot read is left out", () => {
    const survey = surveySource()
    survey.look({ seq: 1, time: 1, type: "unknown", data: { storedType: "x", reason: "unknown-type" } })
    expect(survey.plan()).toEqual({ through: 1, left: [1] })
  })
})

describe("a copy", () => {
  const plan = { through: 20, left: [2, 3] }
  const copy = (event: DurableEvent, seq: number) =>
    rewriteEvent(Object.assign({ seq, time: 7 }, event), plan, (id) => `new_${id}`)

  test("has other ids, and numbers that follow what was left out", () => {
    expect(copy(promoted("a", 4), 5)).toEqual({
      type: "session.next.prompt.promoted.1",
      time: 7,
      data: { messageID: "new_a", admittedSeq: 2 },
    })
    expect(copy(compacted, 9)?.data).toMatchObject({
      compactionID: "new_cmp_1",
      range: { from: 1, through: 2 },
      kept: ["new_msg_k"],
    })
    expect(copy(called, 6)?.data).toMatchObject({ assistantMessageID: "new_msg_a", callID: "c" })
    const asked: DurableEvent = {
      type: "session.next.permission.asked.1",
      data: {
        requestID: permissionRequestId("per_1"),
        assistantMessageID,
        callID: "c",
        action: "bash",
        resources: ["ls"],
        title: "ls",
        always: [],
      },
    }
    expect(copy(asked, 7)?.data).toMatchObject({ requestID: "new_per_1", assistantMessageID: "new_msg_a" })
    const pruned: DurableEvent = {
      type: "session.next.tool.pruned.1",
      data: { calls: [{ assistantMessageID, callID: "c" }], tokens: 5 },
    }
    expect(copy(pruned, 8)?.data).toMatchObject({ calls: [{ assistantMessageID: "new_msg_a", callID: "c" }] })
    const restored: DurableEvent = {
      type: "session.next.compaction.restored.1",
      data: { compactionID: "cmp_1" },
    }
    expect(copy(restored, 8)?.data).toEqual({ compactionID: "new_cmp_1" })
  })

  test("has no creation, nothing left out and nothing after the boundary", () => {
    expect([copy(created, 1), copy(admitted("b"), 2), copy(ended, 21)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
