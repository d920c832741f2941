import { messageId, type DurableEvent } from "@meridian/protocol"
import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import { foldConversation, NO_CONVERSATION } from "./conversation.ts"

const { promoted, started, ended, failed, text, called, succeeded, compacted, updated, baseline } = EVENTS
const beside = { promptOf: (id: string) => ({ text: `say ${id}` }), ignored: new Set<string>() }
const conversationOf = (...events: readonly DurableEvent[]) =>
  foldConversation(NO_CONVERSATION, logged(events), beside)
const kinds = (...events: readonly DurableEvent[]) =>
  conversationOf(...events).items.map(({ kind, id }) => `${kind} ${id}`)

test("a turn collects its prose and calls, and each call its one outcome", () => {
  const { items, openStep, userTexts } = conversationOf(
    promoted("a", 1),
    started("s"),
    text("s", "looking"),
    called("s", "1"),
    succeeded("s", "1", "found"),
    succeeded("s", "1", "again"),
    ended("s"),
  )
  expect([openStep, userTexts]).toEqual([undefined, ["say a"]])
  expect(items).toEqual([
    { kind: "user", id: "a", seq: 1, prompt: { text: "say a" } },
    {
      kind: "assistant",
      id: "s",
      seq: 2,
      agent: "build",
      model: "m",
      ended: true,
      parts: [
        { type: "text", text: "looking" },
        {
          type: "tool",
          seq: 4,
          callID: "1",
          tool: "act",
          input: {},
          hosted: false,
          outcome: { kind: "success", content: [{ type: "text", text: "found" }] },
        },
      ],
    },
  ])
})

test("a step is open until it ends or fails", () => {
  expect(conversationOf(started("s")).openStep).toBe("s")
  expect(conversationOf(started("s"), failed("s"))).toMatchObject({
    openStep: undefined,
    items: [{ ended: true, error: { code: "x" } }],
  })
})

test("what the provider reported belongs to the turn and model it reported on", () => {
  expect(conversationOf(started("s"), ended("s")).lastUsage).toMatchObject({
    seq: 2,
    messageID: "s",
    model: "m",
  })
})

test("a compaction leaves its checkpoint, what it kept, and the context since then", () => {
  expect(
    kinds(
      promoted("a", 1),
      started("s"),
      ended("s"),
      promoted("b", 1),
      updated("u", "it is tue"),
      compacted("c", ["b"], 3),
    ),
  ).toEqual(["checkpoint c", "user b", "context u"])
})

test("a compaction that was taken back changes nothing", () => {
  const folded = foldConversation(NO_CONVERSATION, logged([promoted("a", 1), compacted("c", [], 1)]), {
    ...beside,
    ignored: new Set(["c"]),
  })
  expect(folded.items.map(({ id }) => id)).toEqual(["a"])
})

test("a new baseline has the updates in it", () => {
  expect(kinds(updated("u", "x"), promoted("a", 1), baseline("fresh"))).toEqual(["user a"])
})

test("a pruned result is marked, and every cache of the conversation must look again", () => {
  const before = conversationOf(started("s"), called("s", "1"), succeeded("s", "1"), ended("s"))
  const pruned: DurableEvent = {
    type: "session.next.tool.pruned.1",
    data: { calls: [{ assistantMessageID: messageId("s"), callID: "1" }], tokens: 10 },
  }
  const after = foldConversation(before, logged([pruned], 4), beside)
  expect(after).toMatchObject({ prunedSeq: 5, items: [{ parts: [{ pruned: true }] }] })
  expect([before.items, after.revision > before.revision]).toMatchObject([
    [{ parts: [{ callID: "1" }] }],
    true,
  ])
})

test("while only items are added the revision stays", () => {
  const before = conversationOf(promoted("a", 1))
  const after = foldConversation(before, logged([started("s"), text("s", "x"), ended("s")], 1), beside)
  expect([after.revision, after.items[0]]).toEqual([before.revision, before.items[0]])
})

test("the weight follows what is held", () => {
  const said = conversationOf(promoted("a", 1), started("s"), text("s", "1234567890"))
  expect(said.weight).toBe("say a".length + 10)
  expect(foldConversation(said, logged([compacted("c", [], 3)], 3), beside).weight).toBe("summary c".length)
})
