import { messageId, permissionRequestId, sessionId, type DurableEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { foldSpending, NO_SPENDING } from "./spending.ts"

const step = messageId("msg_1")
const of = (callID: string) => ({ assistantMessageID: step, callID })
const usage = { input: 1, output: 2, reasoning: 4, cacheRead: 8, cacheWrite: 16 }
const created = (more: object = {}): DurableEvent => ({
  type: "session.next.created.1",
  data: { sessionID: sessionId("ses_1"), location: { directory: "/" }, ...more },
})
const started: DurableEvent = {
  type: "session.next.step.started.1",
  data: { assistantMessageID: step, agent: "build", model: "m" },
}
const ended: DurableEvent = {
  type: "session.next.step.ended.2",
  data: { assistantMessageID: step, finish: "stop", usage, cost: 0.5 },
}
const called = (id: string): DurableEvent => ({
  type: "session.next.tool.called.1",
  data: { ...of(id), tool: "act" },
})
const done = (id: string): DurableEvent => ({
  type: "session.next.tool.success.1",
  data: { ...of(id), content: [] },
})
const lost = (id: string): DurableEvent => ({
  type: "session.next.tool.failed.1",
  data: { ...of(id), error: { code: "interrupted", message: "" } },
})
const asked: DurableEvent = {
  type: "session.next.permission.asked.1",
  data: {
    requestID: permissionRequestId("per_1"),
    ...of("c"),
    action: "a",
    resources: [],
    title: "",
    always: [],
  },
}
const replied: DurableEvent = {
  type: "session.next.permission.replied.1",
  data: { requestID: permissionRequestId("per_1"), reply: "once", parked: false },
}

const spentAfter = (...dated: readonly (readonly [number, DurableEvent])[]) =>
  foldSpending(
    NO_SPENDING,
    dated.map(([time, event], index) => Object.assign({ time, seq: index + 1 }, event)),
  ).spent

test("tokens of every kind count, cached ones too", () => {
  expect(spentAfter([0, created()], [0, started], [0, ended])).toMatchObject({
    tokens: 31,
    cost: 0.5,
    turns: 1,
  })
})

test("time counts while a turn or a call of it is open", () => {
  const first = [
    [0, created()],
    [100, started],
    [110, called("c")],
    [120, ended],
  ] as const
  expect(spentAfter(...first).timeMs).toBe(20)
  expect(spentAfter(...first, [170, done("c")], [900, started], [905, ended]).timeMs).toBe(75)
})

test("time during a question does not count, nor time before a crash was found", () => {
  expect(
    spentAfter(
      [0, started],
      [10, called("c")],
      [10, ended],
      [20, asked],
      [5_000, replied],
      [5_030, done("c")],
    ).timeMs,
  ).toBe(50)
  expect(spentAfter([0, started], [10, called("c")], [20, ended], [9_000, lost("c")]).timeMs).toBe(20)
})

test("a clock that was set back takes nothing away", () => {
  expect(spentAfter([1_000, started], [400, ended]).timeMs).toBe(0)
})

test("the spending of a fork's history counts for its source, and that of an import for no session", () => {
  const parent = { sessionID: sessionId("ses_0"), through: 9, time: 100 }
  const copied = [
    [10, started],
    [20, ended],
  ] as const
  const own = [
    [200, started],
    [230, ended],
  ] as const
  expect(spentAfter([100, created({ parent })], ...copied, ...own)).toEqual({
    cost: 0.5,
    tokens: 31,
    turns: 1,
    timeMs: 30,
  })
  const imported = { format: "claude", id: "x", digest: "y" }
  const admitted: DurableEvent = {
    type: "session.next.prompt.admitted.1",
    data: { messageID: messageId("msg_0"), prompt: { text: "go" }, delivery: "steer", resume: true },
  }
  expect(spentAfter([1, created({ imported })], ...copied, [150, admitted], ...own)).toMatchObject({
    turns: 1,
  })
})
