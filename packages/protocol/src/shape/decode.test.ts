import { describe, expect, test } from "vitest"

import { Failure } from "../failure.ts"
import { decoder, reader, type Decoded } from "./decode.ts"
import { problemText } from "./problem.ts"
import {
  alsoNamed,
  ANY,
  ANY_OBJECT,
  anyOf,
  BOOLEAN,
  COUNT,
  integer,
  listOf,
  mapOf,
  NUMBER,
  number,
  objectOf,
  oneOf,
  something,
  STRING,
  taggedBy,
  text,
  type Shape,
} from "./shape.ts"

const FILE = objectOf({ mediaType: STRING }, { name: text({ least: 1, most: 5 }) })
const RUN = objectOf(
  { runId: text({ pattern: /^r\d+$/, like: "the id of a run" }), status: oneOf("queued", "ended") },
  {
    retryCount: COUNT,
    level: integer(1, 5),
    share: number({ least: 0 }),
    timeoutSecs: number({ above: 0 }),
    isLast: BOOLEAN,
    files: listOf(FILE, 2),
    environment: mapOf(STRING),
    detail: ANY_OBJECT,
    output: ANY,
    outcome: taggedBy(
      "kind",
      objectOf({ kind: oneOf("good") }),
      objectOf({ kind: oneOf("bad"), exitCode: NUMBER }),
    ),
    target: anyOf(STRING, objectOf({ path: STRING, depth: COUNT })),
    onEnd: something<() => void>("a function", (value) => typeof value === "function"),
  },
)

const GOOD = { runId: "r1", status: "queued" }

const said = (decoded: Decoded<unknown>): unknown =>
  decoded.tag === "value" ? decoded.value : problemText(decoded.problem, "The run")

describe("a problem says where it is and what was expected", () => {
  const decode = decoder(RUN)
  test.each([
    ["The run must be an object, not a list", []],
    ["The run must be an object, not null", null],
    ["`runId` is missing", { status: "queued" }],
    ["`runId` is missing", { runId: undefined, status: "queued" }],
    ["`runId` must be the id of a run, not a number", { ...GOOD, runId: 1 }],
    ['`runId` must be the id of a run, not "x1"', { ...GOOD, runId: "x1" }],
    ['`status` must be one of queued, ended, not "runing"', { ...GOOD, status: "runing" }],
    ["`status` must be one of queued, ended, not an object", { ...GOOD, status: {} }],
    ["`retryCount` must be a whole number of at least 0, not -1", { ...GOOD, retryCount: -1 }],
    ["`retryCount` must be a whole number of at least 0, not 1.5", { ...GOOD, retryCount: 1.5 }],
    ["`retryCount` must be a whole number of at least 0, not null", { ...GOOD, retryCount: null }],
    ["`level` must be a whole number from 1 to 5, not 6", { ...GOOD, level: 6 }],
    ["`share` must be a number of at least 0, not -0.5", { ...GOOD, share: -0.5 }],
    ["`timeoutSecs` must be a number above 0, not 0", { ...GOOD, timeoutSecs: 0 }],
    ["`isLast` must be true or false, not text", { ...GOOD, isLast: "true" }],
    [
      "`files` must be a list of at most 2, not one of 3",
      { ...GOOD, files: [1, 2, 3].map(() => ({ mediaType: "" })) },
    ],
    ["`files.0.mediaType` is missing", { ...GOOD, files: [{}] }],
    [
      "`files.1.mediaType` must be text, not true or false",
      { ...GOOD, files: [{ mediaType: "" }, { mediaType: true }] },
    ],
    [
      "`files.0.name` must be text that is not empty of at most 5 characters, not empty",
      { ...GOOD, files: [{ mediaType: "", name: "" }] },
    ],
    [
      "`files.0.name` must be text that is not empty of at most 5 characters, not text of 6 characters",
      { ...GOOD, files: [{ mediaType: "", name: "abcdef" }] },
    ],
    ["`environment.HOME` must be text, not a number", { ...GOOD, environment: { HOME: 1 } }],
    [
      "`environment` must be an object without the keys __proto__, prototype, constructor, not an object",
      { ...GOOD, environment: { constructor: "" } },
    ],
    ["`detail` must be an object, not a list", { ...GOOD, detail: [] }],
    ['`outcome.kind` must be one of good, bad, not "ugly"', { ...GOOD, outcome: { kind: "ugly" } }],
    ["`outcome.kind` is missing", { ...GOOD, outcome: {} }],
    ["`outcome` must be an object, not text", { ...GOOD, outcome: "good" }],
    ["`outcome.exitCode` must be a number, not text", { ...GOOD, outcome: { kind: "bad", exitCode: "1" } }],
    ["`target` must be text or an object, not a number", { ...GOOD, target: 1 }],
    [
      "`target.depth` must be a whole number of at least 0, not text",
      { ...GOOD, target: { path: "", depth: "" } },
    ],
    ["`onEnd` must be a function, not text", { ...GOOD, onEnd: "later" }],
    ["`sttaus` is not known here (did you mean `status`?)", { runId: "r1", sttaus: "queued" }],
    ["`retries` is not known here", { ...GOOD, retries: 1 }],
    [
      "`files.0.mediatype` is not known here (did you mean `mediaType`?)",
      { ...GOOD, files: [{ mediatype: "" }] },
    ],
    ["`a␇b` is not known here", { ...GOOD, "a\u0007b": 1 }],
  ])("%s", (sentence, value) => {
    expect(said(decode(value))).toBe(sentence)
  })
})

test("a value that fits is passed on, not copied", () => {
  const value = { ...GOOD, environment: { A: "1" }, outcome: { kind: "bad", exitCode: 1 } }
  const decoded = decoder(RUN)(value)
  expect(decoded.tag === "value" && decoded.value === value).toBe(true)
})

test("undefined counts as absent, as programs use it", () => {
  expect(said(decoder(RUN)({ ...GOOD, retryCount: undefined }))).toEqual(GOOD)
})

test("a list of a million wrong entries costs one problem", () => {
  const files = Array.from({ length: 1_000_000 }, () => 1)
  expect(said(decoder(objectOf({ files: listOf(FILE) }))({ files }))).toBe(
    "`files.0` must be an object, not a number",
  )
})

describe("unknown keys", () => {
  const value = { ...GOOD, stranger: 1, files: [{ mediaType: "", other: 2 }] }
  test("are kept as they are when the reading keeps them", () => {
    expect(said(decoder(RUN, { unknown: "keep" })(value))).toBe(value)
  })
  test("are left out when the reading strips them", () => {
    expect(said(decoder(RUN, { unknown: "strip" })(value))).toEqual({ ...GOOD, files: [{ mediaType: "" }] })
  })
})

describe("names in snake case", () => {
  const decode = decoder(RUN, { names: "snake" })
  test("become the names of the type, inside lists and tagged objects too; keys of maps stay", () => {
    const written = {
      run_id: "r1",
      status: "ended",
      retry_count: 2,
      files: [{ media_type: "text/plain" }],
      environment: { API_KEY: "x", someKey: "y" },
      outcome: { kind: "bad", exit_code: 1 },
      target: { path: "a", depth: 1 },
    }
    expect(said(decode(written))).toEqual({
      runId: "r1",
      status: "ended",
      retryCount: 2,
      files: [{ mediaType: "text/plain" }],
      environment: { API_KEY: "x", someKey: "y" },
      outcome: { kind: "bad", exitCode: 1 },
      target: { path: "a", depth: 1 },
    })
  })
  test.each([
    ["`run_id` is missing", { status: "ended" }],
    ["`runId` is not known here (did you mean `run_id`?)", { runId: "r1", status: "ended" }],
    [
      "`files.0.media_type` must be text, not a number",
      { run_id: "r1", status: "ended", files: [{ media_type: 1 }] },
    ],
    [
      "`environment.someKey` must be text, not a number",
      { run_id: "r1", status: "ended", environment: { someKey: 1 } },
    ],
  ])("are the names of its problems: %s", (sentence, value) => {
    expect(said(decode(value))).toBe(sentence)
  })
})

describe("a loose reading", () => {
  const INPUT = objectOf(
    { path: alsoNamed(STRING, "filePath", "file_path") },
    { limit: integer(1, 100), all: BOOLEAN, share: NUMBER },
  )
  const decode = decoder(INPUT, { unknown: "strip", loose: true })
  test.each([
    [
      { path: "a", limit: "7", all: "true", share: "0.5" },
      { path: "a", limit: 7, all: true, share: 0.5 },
    ],
    [
      { path: "a", limit: null, all: "false", extra: 1 },
      { path: "a", all: false },
    ],
    [{ filePath: "a" }, { path: "a" }],
    [{ filePath: "a", path: "b" }, { path: "b" }],
    [{ file_path: null, filePath: "a" }, { path: "a" }],
    [{ path: "a", limit: "seven" }, "`limit` must be a whole number from 1 to 100, not text"],
    [{ path: "a", limit: "700" }, "`limit` must be a whole number from 1 to 100, not 700"],
    [{ path: null }, "`path` is missing"],
    [{ pth: "a" }, "`pth` is not known here (did you mean `path`?)"],
    ["a", "The run must be an object, not text"],
  ])("reads %o", (value, expected) => {
    expect(said(decode(value))).toEqual(expected)
  })
})

test("a reader throws the failure of its edge, with the sentence in it", () => {
  const usage = (problem: string): Failure => new Failure("USAGE", { problem, next: "" })
  expect(() => reader(RUN, { what: "The body" })([])).toThrow(
    new Failure("INVALID_INPUT", { what: "The body must be an object, not a list" }),
  )
  expect(() => reader(RUN, { what: "The body", fail: usage })({})).toThrow(usage("`runId` is missing"))
})

test("no value makes a decoder throw", () => {
  const shapes: readonly Shape<unknown>[] = [RUN, anyOf(RUN, STRING), mapOf(RUN), listOf(RUN)]
  const values = [undefined, null, 0, "", [], {}, () => 1, Symbol("s"), 10n, new Map(), Object.create(null)]
  for (const shape of shapes)
    for (const value of values)
      for (const reading of [{}, { loose: true }, { names: "snake" }, { unknown: "strip" }] as const)
        expect(decoder(shape, reading)(value).tag).toMatch(/value|problem/)
})
