import * as fc from "fast-check"
import { expect, test } from "vitest"

import {
  decodeBook,
  EMPTY_BOOK,
  encodeBook,
  findEntry,
  isCovered,
  MOST_FOLDERS,
  putEntry,
  withoutEntry,
  type TrustEntry,
} from "./trust.ts"

const entry = (path: string, more: Partial<TrustEntry> = {}): TrustEntry => ({
  path,
  owner: 1000,
  id: "an-id",
  values: {},
  at: "2026-11-16T08:00:00.000Z",
  ...more,
})

test("a written book is read back unchanged", () => {
  const book = {
    entries: [
      entry("/a", { tier: "full-access", values: { "harness.claude": '"./x"' } }),
      entry("/b", { refused: "abc" }),
    ],
  }
  expect(decodeBook(encodeBook(book))).toEqual(book)
})

test.each([
  ["", "it is not a JSON object"],
  ["[]", "it is not a JSON object"],
  ['{"version":2,"folders":[]}', "its version is 2, not 1"],
  ['{"version":1}', "it has no list of folders"],
])("%j is no book", (text, why) => {
  expect(decodeBook(text)).toBe(why)
})

test("an unreadable entry trusts nothing, and a forbidden tier is ignored", () => {
  const read = decodeBook(
    JSON.stringify({
      version: 1,
      folders: [
        7,
        { path: "/a" },
        { path: "/b", owner: 1, id: "x", tier: "danger", values: { k: 1, l: "2" } },
      ],
    }),
  )
  expect(read).toEqual({ entries: [entry("/b", { owner: 1, id: "x", values: { l: "2" }, at: "" })] })
})

test("reading never throws, whatever the file contains", () => {
  fc.assert(fc.property(fc.json(), (text) => void decodeBook(text)))
})

test("a folder that changed hands is a different folder", () => {
  const book = { entries: [entry("/a")] }
  expect([
    findEntry(book, { path: "/a", owner: 1000 })?.id,
    findEntry(book, { path: "/a", owner: 1001 }),
    findEntry(book, { path: "/a/b", owner: 1000 }),
  ]).toEqual(["an-id", undefined, undefined])
})

test("a value is covered if the folder is trusted with exactly that value", () => {
  const claim = { kind: "program", key: "harness.claude", value: '"./x"', shown: "./x", where: "" } as const
  const values = { "harness.claude": '"./x"' }
  expect([
    isCovered(claim, undefined),
    isCovered(claim, entry("/a", { values })),
    isCovered(claim, entry("/a", { values, tier: "read-only" })),
    isCovered({ ...claim, value: '"./y"' }, entry("/a", { values, tier: "read-only" })),
    isCovered({ ...claim, key: "constructor" }, entry("/a", { tier: "read-only" })),
  ]).toEqual([false, false, true, false, false])
})

test("a full book makes room by dropping untrusted folders, and then refuses", () => {
  const known = Array.from({ length: MOST_FOLDERS }, (_, index) =>
    entry(`/${index}`, index === 3 ? {} : { tier: "read-only" }),
  )
  const once = putEntry({ entries: known }, entry("/new", { tier: "read-only" }))
  expect(once?.entries.map(({ path }) => path).filter((path) => path === "/3" || path === "/new")).toEqual([
    "/new",
  ])
  expect(putEntry(once ?? EMPTY_BOOK, entry("/newer"))).toBeUndefined()
  expect(putEntry(once ?? EMPTY_BOOK, entry("/7"))?.entries).toHaveLength(MOST_FOLDERS)
  expect(withoutEntry(once ?? EMPTY_BOOK, "/new").entries).toHaveLength(MOST_FOLDERS - 1)
})
