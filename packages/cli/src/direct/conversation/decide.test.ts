import { expect, test } from "vitest"

import { decideInterrupt, decideKey, type Situation } from "./decide.ts"
import { EMPTY_EDITOR, type Key } from "./editor.ts"

const IDLE: Situation = {
  editor: EMPTY_EDITOR,
  question: undefined,
  explaining: undefined,
  working: false,
  stopping: false,
  armed: false,
}
const ASKED: Situation = { ...IDLE, working: true, question: { id: "per_1", action: "bash" } }
const written = (text: string) => ({ ...EMPTY_EDITOR, text, cursor: text.length })
const plain = (sequence: string): Key => ({ name: sequence, sequence, ctrl: false, meta: false })
const ctrl = (name: string): Key => ({ name, sequence: "", ctrl: true, meta: false })

test.each([
  ["idle", IDLE, { tag: "warn" }],
  ["idle, a second time", { ...IDLE, armed: true }, { tag: "leave" }],
  ["at work", { ...IDLE, working: true }, { tag: "stop-work" }],
  ["at work with a draft", { ...IDLE, working: true, editor: written("x") }, { tag: "stop-work" }],
  ["stopping", { ...IDLE, working: true, stopping: true }, { tag: "leave" }],
  ["idle with a draft", { ...IDLE, editor: written("x") }, { tag: "edited", editor: EMPTY_EDITOR }],
  ["explaining", { ...ASKED, explaining: "per_1" }, { tag: "stop-explaining" }],
] as const)("Ctrl-C when %s", (_name, now, deed) => {
  expect(decideInterrupt(now)).toEqual(deed)
  expect(decideKey(now, ctrl("c"))).toEqual(deed)
})

test.each([
  ["y", { tag: "answer", requestID: "per_1", reply: "once" }],
  ["a", { tag: "answer", requestID: "per_1", reply: "always" }],
  ["n", { tag: "answer", requestID: "per_1", reply: "reject" }],
  ["f", { tag: "explain", requestID: "per_1" }],
  ["v", { tag: "show" }],
] as const)("%s answers a question", (key, deed) => {
  expect(decideKey(ASKED, plain(key))).toEqual(deed)
})

test("text being written is not taken for an answer, nor is any other key", () => {
  expect(decideKey({ ...ASKED, editor: written("happil") }, plain("y"))).toMatchObject({
    tag: "edited",
    editor: { text: "happily" },
  })
  expect(decideKey(ASKED, plain("z"))).toMatchObject({ tag: "edited", editor: { text: "z" } })
})

test("Ctrl-U at a question clears the whole draft with all its lines", () => {
  const draft = written("one\ntwo")
  expect(decideKey({ ...ASKED, editor: draft }, ctrl("u"))).toEqual({ tag: "edited", editor: EMPTY_EDITOR })
  expect(decideKey({ ...IDLE, editor: draft }, ctrl("u"))).toMatchObject({ editor: { text: "one\n" } })
})

test("a refusal may be explained, given without words, or taken back", () => {
  const explaining: Situation = { ...ASKED, explaining: "per_1" }
  expect(decideKey({ ...explaining, editor: written("mine") }, plain("return"))).toEqual({
    tag: "answer",
    requestID: "per_1",
    reply: "reject",
    message: "mine",
  })
  expect(decideKey(explaining, plain("return"))).toEqual({
    tag: "answer",
    requestID: "per_1",
    reply: "reject",
  })
  expect(decideKey(explaining, plain("escape"))).toEqual({ tag: "stop-explaining" })
  expect(decideKey(explaining, plain("y"))).toMatchObject({ tag: "edited", editor: { text: "y" } })
})

test("Ctrl-Z returns the terminal for a while, Ctrl-L redraws it", () => {
  expect([decideKey(ASKED, ctrl("z")), decideKey(IDLE, ctrl("l"))]).toEqual([
    { tag: "suspend" },
    { tag: "redraw" },
  ])
})

test("Ctrl-D leaves, or deletes the character after the cursor", () => {
  expect(decideKey(IDLE, ctrl("d"))).toEqual({ tag: "leave" })
  expect(decideKey({ ...IDLE, editor: { ...written("ab"), cursor: 0 } }, ctrl("d"))).toMatchObject({
    editor: { text: "b" },
  })
})

test("Ctrl-C ends a paste whose end never came, and nothing else", () => {
  expect(decideKey({ ...IDLE, editor: { ...EMPTY_EDITOR, pasted: "much" } }, ctrl("c"))).toEqual({
    tag: "edited",
    editor: { ...EMPTY_EDITOR, pasted: undefined },
  })
})
