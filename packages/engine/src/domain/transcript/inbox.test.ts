import { expect, test } from "vitest"

import { EVENTS, logged } from "../../../../../test/event-log.ts"
import { EMPTY_INBOX, foldInbox, inputsToRun } from "./inbox.ts"

const { created, admitted, promoted, cancelled } = EVENTS

const inboxOf = (...events: Parameters<typeof logged>[0]) => foldInbox(EMPTY_INBOX, logged(events))

test("an input waits from its admission until it is promoted or cancelled", () => {
  const waiting = inboxOf(
    created(),
    admitted("a"),
    admitted("b", { delivery: "queue" }),
    admitted("c"),
    promoted("a", 2),
    cancelled("c"),
  )
  expect(waiting).toEqual([
    { id: "b", overrides: {}, prompt: { text: "say b" }, delivery: "queue", resume: true, admittedSeq: 3 },
  ])
})

test("folding changes no value that is still held", () => {
  const before = inboxOf(created(), admitted("a"))
  const after = foldInbox(before, logged([promoted("a", 2)], 2))
  expect([before.length, after.length]).toEqual([1, 0])
})

test("events without inputs leave the same inbox object", () => {
  const inbox = inboxOf(created(), admitted("a"))
  expect(foldInbox(inbox, logged([EVENTS.started("s")], 2))).toBe(inbox)
})

test("an input that was only admitted runs once a demand comes after it", () => {
  const inbox = inboxOf(created(), admitted("a"), admitted("b", { resume: false }))
  expect(inputsToRun(inbox, 2).map(({ id }) => id)).toEqual(["a"])
  expect(inputsToRun(inbox, 3).map(({ id }) => id)).toEqual(["a", "b"])
})
