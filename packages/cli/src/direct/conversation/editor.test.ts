import { expect, test } from "vitest"

import { editLine, EMPTY_EDITOR, MOST_CHARACTERS, type Editor, type Key } from "./editor.ts"

const plain = (sequence: string): Key => ({ name: undefined, sequence, ctrl: false, meta: false })
const named = (name: string, more: Partial<Key> = {}): Key => ({
  name,
  sequence: `\u001B${name}`,
  ctrl: false,
  meta: false,
  ...more,
})
const ctrl = (name: string): Key => named(name, { ctrl: true })
const meta = (name: string): Key => named(name, { meta: true })

/** Types characters one by one, and presses keys. */
const after = (keys: readonly (string | Key)[], from: Editor = EMPTY_EDITOR): Editor => {
  let editor = from
  for (const key of keys.flatMap((each) => (typeof each === "string" ? Array.from(each, plain) : [each]))) {
    const edit = editLine(editor, key)
    if (edit.tag !== "unused") ({ editor } = edit)
  }
  return editor
}

const shown = (editor: Editor): string =>
  `${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`

test.each([
  ["abc", [], "abc|"],
  ["abc", [named("left"), "x"], "abx|c"],
  ["abc", [named("home"), named("delete")], "|bc"],
  ["abc", [ctrl("a"), ctrl("e")], "abc|"],
  ["one two", [ctrl("w")], "one |"],
  ["one two", [meta("b"), ctrl("k")], "one |"],
  ["one two", [meta("b"), meta("b"), meta("f")], "one| two"],
  ["one two", [meta("b"), ctrl("u")], "|two"],
  ["x👩‍👩‍👧", [named("backspace")], "x|"],
  ["e\u0301x", [named("left"), named("left")], "|e\u0301x"],
  ["one", [named("return", { meta: true }), "two"], "one\ntwo|"],
  ["one", [named("return", { meta: true }), "two", named("up")], "one|\ntwo"],
  ["one", [named("return", { meta: true }), "two", named("up"), named("down")], "one\ntwo|"],
] as const)("%s and then %o", (typed, keys, expected) => {
  expect(shown(after([typed, ...keys]))).toBe(expected)
})

test("Enter submits the text and remembers it, and an empty line submits nothing", () => {
  const edit = editLine(after(["hello"]), named("return"))
  expect(edit).toEqual({ tag: "submitted", text: "hello", editor: { ...EMPTY_EDITOR, history: ["hello"] } })
  expect(editLine(after(["  "]), named("return"))).toEqual({ tag: "edited", editor: EMPTY_EDITOR })
})

test("up and down walk through earlier inputs, and the draft comes back", () => {
  const sent = { ...EMPTY_EDITOR, history: ["first", "second"] }
  const walked = [
    [named("up")],
    [named("up"), named("up")],
    [named("up"), named("up"), named("down"), named("down")],
  ]
  expect(walked.map((keys) => after(["draft", ...keys], sent).text)).toEqual(["second", "first", "draft"])
})

test("a paste keeps its line breaks, is not sent by them, and brings no control characters", () => {
  const pasted = after([
    "say: ",
    named("paste-start"),
    "one\rtwo\u001B[31m",
    plain("\u0003"),
    named("paste-end"),
    "!",
  ])
  expect(pasted.text).toBe("say: one\ntwo␃!")
})

test("a key that writes nothing is left unused", () => {
  for (const key of [ctrl("c"), named("escape"), named("f5"), ctrl("d"), named("tab", { sequence: "\t" })])
    expect(editLine(EMPTY_EDITOR, key)).toEqual({ tag: "unused" })
})

test("a line has a bound", () => {
  const full = { ...EMPTY_EDITOR, text: "x".repeat(MOST_CHARACTERS), cursor: 0 }
  expect(after(["y"], full).text.length).toBe(MOST_CHARACTERS)
})

test("Ctrl-R finds earlier inputs, newest first, and any other key stays at the found one", () => {
  const history = ["fix the login", "run tests", "fix the logout"]
  const ctrlR: Key = { name: "r", sequence: "\u0012", ctrl: true, meta: false }
  const pressed = (editor: Editor, key: Key): Editor => {
    const edit = editLine(editor, key)
    return edit.tag === "edited" ? edit.editor : editor
  }
  const begun = { ...EMPTY_EDITOR, history, text: "FIX", cursor: 3 }
  const once = pressed(begun, ctrlR)
  expect(once.text).toBe("fix the logout")
  const twice = pressed(once, ctrlR)
  expect(twice.text).toBe("fix the login")
  expect(pressed(twice, ctrlR).text).toBe("fix the login")
  const typed = pressed(twice, { name: "x", sequence: "!", ctrl: false, meta: false })
  expect([typed.text, typed.sought]).toEqual(["fix the login!", undefined])
})
