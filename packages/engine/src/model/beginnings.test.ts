import { expect, test } from "vitest"

import type { PromptMessage } from "../domain/prompt.ts"
import { openBeginnings, openSearch } from "./beginnings.ts"

const said = (text: string): PromptMessage => ({ role: "user", content: [{ type: "text", text }] })
const [A, B, C, D] = [said("a"), said("b"), said("c"), said("d")]

test("of one conversation the longest request is known, as long as it begins the same", () => {
  const known = openBeginnings<PromptMessage, string>()
  known.keep({ messages: [A, B], value: "ab" }, undefined)
  known.keep({ messages: [A], value: "a" }, undefined)
  expect([
    known.find([A, B, C])?.value,
    known.find([A, C])?.value,
    known.find([said("a"), B])?.value,
    known.find([])?.value,
  ]).toEqual(["ab", "a", undefined, undefined])
})

test("an extended prompt is forgotten", () => {
  const known = openBeginnings<PromptMessage, string>()
  const short = { messages: [A], value: "a" }
  known.keep(short, undefined)
  known.keep({ messages: [A, B], value: "ab" }, short)
  expect([known.find([A, C])?.value, known.find([A, B, C])?.value]).toEqual([undefined, "ab"])
})

test("what was checked in vain is not checked again, and what was found is found again", () => {
  const looked: PromptMessage[] = []
  const search = openSearch((message) => {
    looked.push(message)
    return message === D
  })
  const answers = [[A, B], [A, B, C], [A, B, C], [A, B, C, D], [A, B, C, D], [D]].map(search)
  expect(answers).toEqual([false, false, false, true, true, true])
  expect(looked).toEqual([A, B, C, D, D, D])
})
