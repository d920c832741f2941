import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { READ_LIMITS } from "../domain/limits.ts"
import { openGuardedReader } from "./guarded-reader.ts"
import { openReadBudget } from "./read-budget.ts"

let outside: string
let root: string

beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), "guarded-"))
  root = join(outside, "root")
  mkdirSync(root)
})
afterEach(() => rmSync(outside, { recursive: true, force: true }))

const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(root, name), content)

const textOf = (name: string): string | undefined => {
  const outcome = openGuardedReader(root).read(name)
  return outcome.kind === "text" ? outcome.text : undefined
}

const refusal = (name: string): string => {
  const outcome = openGuardedReader(root).read(name)
  return outcome.kind === "text" ? "read" : `${outcome.kind}: ${outcome.reason}`
}

test("a small file is read whole, without its mark and with plain line ends", () => {
  write("a.md", "\ufeffone\r\ntwo\rthree\n")
  expect(openGuardedReader(root).read("a.md")).toEqual({
    kind: "text",
    text: "one\ntwo\nthree\n",
    truncated: false,
    modifiedMs: expect.any(Number),
  })
})

test.each(["utf16le", "utf-16be"])("%s with its mark is decoded", (encoding) => {
  const little = Buffer.from("\ufeffGrüße\n", "utf16le")
  write("a.md", encoding === "utf16le" ? little : little.swap16())
  expect(textOf("a.md")).toBe("Grüße\n")
})

test("binary content and UTF-16 without a mark are refused", () => {
  write("zero", new Uint8Array([65, 0, 66]))
  write("noise", new Uint8Array(Array.from({ length: 400 }, (_, index) => 128 + (index % 128))))
  write("wide", Buffer.from("hello", "utf16le"))
  expect([refusal("zero"), refusal("noise"), refusal("wide")]).toEqual([
    "refused: not text",
    "refused: not text",
    "refused: not text",
  ])
})

test("an empty file is empty text, a missing one is absent", () => {
  write("empty", "")
  expect([textOf("empty"), refusal("missing"), refusal("empty/below")]).toEqual([
    "",
    "absent: there is no such file",
    "absent: there is no such file",
  ])
})

test("a link is followed inside the root and refused when it leads out or to itself", () => {
  write("inside.md", "inside")
  writeFileSync(join(outside, "secret"), "secret")
  symlinkSync("inside.md", join(root, "good"))
  symlinkSync("../secret", join(root, "out"))
  symlinkSync(outside, join(root, "folder"))
  symlinkSync("loop", join(root, "loop"))
  expect([
    textOf("good"),
    refusal("out"),
    refusal("folder/secret"),
    refusal("loop"),
    refusal("../secret"),
  ]).toEqual([
    "inside",
    "refused: outside of the root",
    "refused: outside of the root",
    "refused: a link that leads to itself",
    "refused: outside of the root",
  ])
})

test("a root that is itself a link is resolved first", () => {
  write("a.md", "text")
  symlinkSync(root, join(outside, "alias"))
  expect(openGuardedReader(join(outside, "alias")).read("a.md").kind).toBe("text")
})

test("a pipe, a device and a folder are refused without waiting", () => {
  execFileSync("mkfifo", [join(root, "pipe")])
  mkdirSync(join(root, "folder"))
  symlinkSync("/dev/zero", join(root, "device"))
  expect([refusal("pipe"), refusal("folder"), refusal("device")]).toEqual([
    "refused: not a regular file",
    "refused: not a regular file",
    "refused: outside of the root",
  ])
  expect(openGuardedReader("/dev").read("zero")).toEqual({ kind: "refused", reason: "not a regular file" })
})

test("of a file of 64 MB only the cap is read: its head, its tail, or both ends", () => {
  write("log", `first\n${"x\n".repeat(1000)}`)
  const size = 64 * 1024 * 1024
  truncateSync(join(root, "log"), size)
  expect(refusal("log")).toBe("refused: not text")
  write("log", `first\n${"line\n".repeat(200_000)}last\n`)
  const reader = openGuardedReader(root)
  const parts = (["head", "tail", "ends"] as const).map((part) => {
    const outcome = reader.read("log", { part })
    if (outcome.kind !== "text") return outcome
    const lines = outcome.text.split("\n")
    const bounded = outcome.text.length <= READ_LIMITS.fileBytes
    return [
      lines[0],
      lines.at(-2),
      outcome.truncated,
      bounded,
      lines.every((line) => "first line last".includes(line)),
    ]
  })
  expect(parts).toEqual([
    ["first", "line", true, true, true],
    ["line", "last", true, true, true],
    ["first", "last", true, true, true],
  ])
})

test("a line of 5 MB is cut to the cap", () => {
  write("long", "y".repeat(5_000_000))
  const outcome = openGuardedReader(root).read("long")
  expect(outcome).toEqual(
    expect.objectContaining({ kind: "text", text: "y".repeat(READ_LIMITS.lineLength), truncated: true }),
  )
})

test("a folder is listed by name up to the cap, links not followed", () => {
  write("b", "")
  mkdirSync(join(root, "a"))
  symlinkSync("b", join(root, "c"))
  const list = (folderEntries: number) =>
    openGuardedReader(root, openReadBudget({ limits: { folderEntries } })).list(".")
  expect(list(10)).toEqual({
    kind: "entries",
    entries: [
      { name: "a", type: "folder" },
      { name: "b", type: "file" },
      { name: "c", type: "link" },
    ],
    truncated: false,
  })
  expect(list(2)).toEqual(expect.objectContaining({ truncated: true }))
})

test("operations, bytes and time of a brief run out together for all its readers", () => {
  write("a", "12345678")
  let now = 0
  const budget = openReadBudget({
    limits: { operations: 4, totalBytes: 12, timeMs: 50, patientOperations: 0 },
    clock: () => now,
  })
  const read = () => {
    const outcome = openGuardedReader(root, budget).read("a")
    return outcome.kind === "text" ? outcome.text : outcome.reason
  }
  expect([read(), read(), read()]).toEqual(["12345678", "1234", "more than 12 bytes in all"])
  now = 51
  expect(read()).toBe("no time left after 50 ms")
  now = 0
  expect([read(), read()]).toEqual(["more than 12 bytes in all", "more than 4 files and folders"])
})

test("a name with a zero byte or without end is refused, a root that is no folder has nothing", () => {
  expect([refusal("a\0b"), refusal("x".repeat(5000))]).toEqual([
    "refused: a name with a zero byte",
    "refused: a name that is too long",
  ])
  expect(openGuardedReader(join(root, "missing")).read("a")).toEqual({
    kind: "absent",
    reason: "the root is not a folder",
  })
})
