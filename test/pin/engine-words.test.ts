/** Names that other programs depend on. If a test here fails, decide, then change the name here in the same commit. */
import { DatabaseSync } from "node:sqlite"

import { decodeEvent, DURABLE_EVENTS } from "@meridian/protocol"
import { expect, test } from "vitest"

import { DEFAULT_LIMITS } from "../../packages/engine/src/domain/limits.ts"
import { DEFAULT_RETRY } from "../../packages/engine/src/domain/retry.ts"
import { openEngineScene } from "../engine-scene.ts"

test("events of every version ever written can still be read", () => {
  const usage = { input: 1, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0 }
  const error = { code: "timeout", message: "" }
  const snapshot = { git: { value: "main", removal: "" } }
  const written: readonly [string, object][] = [
    ["session.next.created.1", { sessionID: "s", location: { directory: "/" } }],
    ["session.next.agent.switched.1", { agent: "a" }],
    ["session.next.model.switched.1", { model: "m" }],
    ["session.next.moved.1", { location: { directory: "/" } }],
    ["session.next.renamed.1", { title: "t" }],
    [
      "session.next.titled.1",
      {
        title: "t",
        model: "m",
        usage: { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
        cost: 0,
      },
    ],
    ["session.next.archived.1", { archived: true }],
    [
      "session.next.prompt.admitted.1",
      { messageID: "m", prompt: { text: "" }, delivery: "steer", resume: true },
    ],
    ["session.next.prompt.promoted.1", { messageID: "m", admittedSeq: 1 }],
    ["session.next.prompt.cancelled.1", { messageID: "m" }],
    ["session.next.prompted.1", { messageID: "m", prompt: { text: "" } }],
    ["session.next.synthetic.1", { messageID: "m", text: "t" }],
    [
      "session.next.task.started.1",
      { assistantMessageID: "m", callID: "c", sessionID: "s", agent: "a", title: "t" },
    ],
    [
      "session.next.task.ended.1",
      { assistantMessageID: "m", callID: "c", sessionID: "s", status: "done", usage, cost: 0, turns: 1 },
    ],
    ["session.next.interrupt.requested.1", {}],
    ["session.next.step.started.1", { assistantMessageID: "m", agent: "a", model: "m" }],
    ["session.next.step.ended.2", { assistantMessageID: "m", finish: "stop", usage, cost: 0 }],
    ["session.next.step.failed.2", { assistantMessageID: "m", error }],
    ["session.next.retried.1", { assistantMessageID: "m", attempt: 1, delayMs: 1, error }],
    [
      "session.next.parked.1",
      { assistantMessageID: "m", reason: "limit", until: 2, since: 1, count: 1, error },
    ],
    ["session.next.text.ended.1", { assistantMessageID: "m", text: "" }],
    ["session.next.reasoning.ended.1", { assistantMessageID: "m", text: "" }],
    ["session.next.tool.called.1", { assistantMessageID: "m", callID: "c", tool: "t" }],
    ["session.next.tool.resumed.1", { assistantMessageID: "m", callID: "c" }],
    ["session.next.tool.success.1", { assistantMessageID: "m", callID: "c", content: [] }],
    ["session.next.tool.failed.1", { assistantMessageID: "m", callID: "c", error }],
    ["session.next.output.given.1", { assistantMessageID: "m", value: null }],
    ["session.next.output.refused.1", { assistantMessageID: "m", problem: "p" }],
    ["session.next.repetition.noticed.1", { assistantMessageID: "m", callID: "c", tool: "t", count: 3 }],
    ["session.next.tooling.failed.1", { kind: "mcp", name: "n", error }],
    ["session.next.tool.adjusted.1", { assistantMessageID: "m", callID: "c", extension: "e", input: {} }],
    ["session.next.todo.updated.1", { items: [] }],
    ["session.next.budget.changed.1", { caps: { maxCost: 1 } }],
    ["session.next.unparked.1", {}],
    ["session.next.warned.1", { about: "budget", text: "" }],
    [
      "session.next.permission.asked.1",
      {
        requestID: "p",
        assistantMessageID: "m",
        callID: "c",
        action: "a",
        resources: [],
        title: "",
        always: [],
      },
    ],
    ["session.next.permission.replied.1", { requestID: "p", reply: "once", parked: false }],
    [
      "session.next.question.asked.1",
      {
        requestID: "que_1",
        kind: "limit",
        text: "t",
        choices: [{ label: "a" }],
        other: false,
        multiple: false,
      },
    ],
    ["session.next.activity.resumed.1", { activityID: "m", attempt: 1 }],
    ["session.next.question.replied.1", { requestID: "que_1", answer: ["a"], parked: true }],
    ["session.next.permission.revoked.1", { project: "/p", action: "a", resource: "r" }],
    ["session.next.epoch.started.1", { baseline: "", snapshot, cause: "first" }],
    ["session.next.context.updated.1", { messageID: "m", text: "", changed: snapshot, removed: [] }],
    ["session.next.instruction.discovered.1", { path: "/a" }],
    ["session.next.tool.pruned.1", { calls: [{ assistantMessageID: "m", callID: "c" }], tokens: 1 }],
    ["session.next.compaction.requested.1", {}],
    ["session.next.compaction.started.1", { compactionID: "c", reason: "auto", model: "m", tokens: 1 }],
    [
      "session.next.compaction.ended.2",
      {
        compactionID: "c",
        reason: "manual",
        method: "model",
        summary: "",
        recent: "",
        range: { from: 1, through: 2 },
        kept: [],
        messages: 2,
        tokens: { before: 2, after: 1 },
        usage,
        cost: 0,
        removedQuotes: [],
      },
    ],
    ["session.next.compaction.failed.1", { compactionID: "c", error }],
    ["session.next.compaction.restored.1", {}],
    ["session.next.execution.failed.1", { error }],
    ["session.next.files.kept.1", { assistantMessageID: "m", moment: "before", scope: "all", tree: "t" }],
    ["session.next.files.missed.1", { assistantMessageID: "m", moment: "after", reason: "r" }],
    [
      "session.next.undo.started.1",
      { undoID: "u", action: "undo", from: 1, conversation: true, files: false },
    ],
    [
      "session.next.undo.ended.1",
      { undoID: "u", action: "redo", from: 1, conversation: true, files: true, changed: 0, left: [] },
    ],
  ]
  expect(written.map(([type]) => type).toSorted()).toEqual(Object.keys(DURABLE_EVENTS).toSorted())
  for (const [type, data] of written) {
    const event = decodeEvent({ seq: 1, time: 2, type, data: JSON.stringify(data) })
    expect(event).toEqual({ seq: 1, time: 2, type, data })
  }
})

test("the limits a program gets without asking", () => {
  expect(DEFAULT_LIMITS).toEqual({
    pendingInputs: 256,
    steerBatch: 32,
    turnsPerActivity: 25,
    leaseMs: 8_000,
    patienceMs: 86_400_000,
  })
  expect(DEFAULT_RETRY).toEqual({ attempts: 4, baseMs: 500 })
})

test("the file says its schema version and keeps a write-ahead log; the log can be read with plain SQL", async () => {
  await using scene = await openEngineScene()
  const raw = new DatabaseSync(scene.file, { readOnly: true })
  expect(Number(raw.prepare("pragma user_version").get()?.["user_version"])).toBeGreaterThanOrEqual(1)
  expect(raw.prepare("pragma journal_mode").get()?.["journal_mode"]).toBe("wal")
  expect(raw.prepare("select session, seq, type from event_log").all()).toMatchObject([
    { session: "ses_test", seq: 1, type: "session.next.created.1" },
  ])
  raw.close()
})

test("the public face has these verbs", async () => {
  await using scene = await openEngineScene()
  const fixed =
    "active cancel create events inputs interrupt list messages move prompt run switchAgent switchModel wait wake"
  expect(Object.keys(scene.engine.sessions)).toEqual(expect.arrayContaining(fixed.split(" ")))
  expect(Object.keys(scene.engine.permissions)).toEqual(expect.arrayContaining(["list", "reply"]))
})
