import { expect, test } from "vitest"

import { openStays } from "./stays.ts"

const nothing = { shared: false, others: [] }

test("a session that works alone shares nothing, whatever was there before it", () => {
  const enter = openStays()
  const before = enter("ses_1")
  before.changes(undefined)
  expect(before.leave()).toEqual(nothing)
  const alone = enter("ses_2")
  alone.changes(["a"])
  expect(alone.leave()).toEqual(nothing)
})

test("a command of another session may have changed anything, for both of them", () => {
  const enter = openStays()
  const [command, other] = [enter("ses_1"), enter("ses_2")]
  command.changes(undefined)
  expect(other.leave()).toEqual({ shared: true, others: [] })
  const later = enter("ses_3")
  later.changes(undefined)
  expect(command.leave()).toEqual({ shared: true, others: [] })
  expect(later.leave()).toEqual({ shared: true, others: [] })
})

test("files that another session names are its own, unless both name them", () => {
  const enter = openStays()
  const [command, editor] = [enter("ses_1"), enter("ses_2")]
  editor.changes(["b", "a"])
  command.changes(["a"])
  expect(command.leave()).toEqual({ shared: false, others: ["b"] })
  expect(editor.leave()).toEqual(nothing)
})

test("a child works for its parent, and two sessions of one id are one", () => {
  const enter = openStays()
  const [parent, child, again] = [enter("ses_1"), enter("ses_2", "ses_1"), enter("ses_1")]
  for (const one of [parent, child, again]) one.changes(undefined)
  expect([parent.leave(), child.leave(), again.leave()]).toEqual([nothing, nothing, nothing])
})
