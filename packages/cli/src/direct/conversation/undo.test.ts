import type { SessionEvent } from "@meridian/engine"
import { expect, test } from "vitest"

import { lastWork, takeBack, type Change } from "./undo.ts"

let seq = 0
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that are looked at
const event = (type: string, data: object) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the log gives it
  ({ type, data, seq: (seq += 1), time: 0 }) as unknown as SessionEvent
const prompt = () => event("session.next.prompt.promoted.1", { messageID: "msg_1", admittedSeq: 1 })
const call = (callID: string, tool: string, input: object, structured?: object) => [
  event("session.next.tool.called.1", { callID, tool, input }),
  event("session.next.tool.success.1", { callID, content: [], structured }),
]
const edit = (callID: string, path: string, oldString: string, newString: string) =>
  call(callID, "edit", { path, oldString, newString })

const AT = { directory: "/p", undone: new Set<string>() }
const back = (events: readonly SessionEvent[], files: Readonly<Record<string, string>>) => {
  const { changes } = lastWork(events, AT)
  const { files: changed, kept } = takeBack(changes, new Map(Object.entries(files)))
  return { files: Object.fromEntries(changed), kept }
}

test("edits of the last work go back, the newest first", () => {
  const events = [prompt(), ...edit("c1", "a", "one", "two"), ...edit("c2", "a", "two!", "three!")]
  expect(back(events, { "/p/a": "x three! y" })).toEqual({ files: { "/p/a": "x one! y" }, kept: [] })
})

test("only the last work that changed a file goes back", () => {
  const events = [prompt(), ...edit("c1", "a", "1", "2"), prompt(), ...edit("c2", "b", "3", "4"), prompt()]
  expect(back(events, { "/p/a": "2", "/p/b": "4" })).toEqual({ files: { "/p/b": "3" }, kept: [] })
})

test("what was taken back already is not looked at again: the work before it is next", () => {
  const events = [prompt(), ...edit("c1", "a", "1", "2"), prompt(), ...edit("c2", "b", "3", "4")]
  const { changes } = lastWork(events, { directory: "/p", undone: new Set(["c2"]) })
  expect(changes.map(({ callID }) => callID)).toEqual(["c1"])
})

test("a file that was made is removed, and one that was replaced as a whole stays", () => {
  const made = call("c1", "write", { path: "new", content: "made\n" }, { outcome: "created" })
  const replaced = call("c2", "write", { path: "old", content: "all\n" }, { outcome: "replaced" })
  expect(back([prompt(), ...made, ...replaced], { "/p/new": "made\n", "/p/old": "all\n" })).toEqual({
    files: { "/p/new": undefined },
    kept: ["/p/old"],
  })
})

test("a patch goes back piece by piece", () => {
  const patchText = [
    "*** Begin Patch",
    "*** Add File: new",
    "+hello",
    "*** Update File: a",
    "@@",
    " same",
    "-old",
    "+fresh",
    "*** End Patch",
  ].join("\n")
  const events = [prompt(), ...call("c1", "apply_patch", { patchText })]
  expect(back(events, { "/p/new": "hello\n", "/p/a": "0\nsame\nfresh\n1\n" })).toEqual({
    files: { "/p/new": undefined, "/p/a": "0\nsame\nold\n1\n" },
    kept: [],
  })
})

test.each([
  ["somebody has changed that place", "else"],
  ["the new text stands there twice", "two two"],
])("a file stays whole when %s", (_why, content) => {
  const events = [prompt(), ...edit("c1", "a", "zero", "kept"), ...edit("c2", "a", "one", "two")]
  expect(back(events, { "/p/a": `${content} kept` })).toEqual({ files: {}, kept: ["/p/a"] })
})

test.each([
  ["the file is gone", {}],
  ["a text was only deleted", { "/p/a": "left" }],
])("nothing is guessed when %s", (_why, files) => {
  expect(back([prompt(), ...edit("c1", "a", "gone", "")], files)).toEqual({ files: {}, kept: ["/p/a"] })
})

test("a replacement everywhere does not say how often, so it stays", () => {
  const all = call("c1", "edit", { path: "a", oldString: "1", newString: "2", replaceAll: true })
  expect(back([prompt(), ...all], { "/p/a": "2" })).toEqual({ files: {}, kept: ["/p/a"] })
})

test("line ends of the file are kept", () => {
  const events = [prompt(), ...edit("c1", "a", "one\n1", "two\n2")]
  expect(back(events, { "/p/a": "x\r\ntwo\r\n2\r\n" })).toEqual({
    files: { "/p/a": "x\r\none\r\n1\r\n" },
    kept: [],
  })
})

test("commands beside it are counted, since what they did cannot be known", () => {
  const events = [prompt(), ...call("c1", "bash", { command: "rm x" }), ...edit("c2", "a", "1", "2")]
  const { changes, commands } = lastWork(events, AT)
  const change: Change = { callID: "c2", path: "/p/a", before: "1", after: "2", isLost: false }
  expect([changes, commands]).toEqual([[change], 1])
})
