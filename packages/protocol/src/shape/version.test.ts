import { expect, test } from "vitest"

import { problemText } from "./problem.ts"
import { COUNT, objectOf, STRING } from "./shape.ts"
import { upgrade, versionedDecoder } from "./version.ts"

const decode = versionedDecoder(
  {
    field: "v",
    current: 3,
    shape: objectOf({ runId: STRING, timeoutMs: COUNT }),
    older: {
      1: upgrade(objectOf({ id: STRING }), ({ id }) => ({ runId: id, timeoutMs: 0 })),
      2: upgrade(objectOf({ runId: STRING, timeoutSecs: COUNT }), ({ runId, timeoutSecs }) => ({
        runId,
        timeoutMs: timeoutSecs * 1_000,
      })),
    },
  },
  { names: "snake", unknown: "keep" },
)

const said = (value: unknown): unknown => {
  const decoded = decode(value)
  return decoded.tag === "value" ? decoded.value : problemText(decoded.problem, "Line 3")
}

test.each([
  ["a record of this version is read", { v: 3, run_id: "r1", timeout_ms: 5 }, { runId: "r1", timeoutMs: 5 }],
  ["the one before is upgraded", { v: 2, run_id: "r1", timeout_secs: 5 }, { runId: "r1", timeoutMs: 5_000 }],
  ["the first is upgraded", { v: 1, id: "r1" }, { runId: "r1", timeoutMs: 0 }],
  [
    "a newer one is refused in words",
    { v: 4, run_id: "r1" },
    "Line 3 has version 4; this Meridian reads up to 3",
  ],
  ["a version is required", { run_id: "r1" }, "`v` is missing"],
  ["a version is a whole number", { v: "3" }, "`v` must be a whole number of at least 0, not text"],
  [
    "a wrong field is located",
    { v: 2, run_id: "r1", timeout_secs: "5" },
    "`timeout_secs` must be a whole number of at least 0, not text",
  ],
  ["a record is an object", [], "Line 3 must be an object, not a list"],
])("%s", (_name, value, expected) => {
  expect(said(value)).toEqual(expected)
})

test("a record without a version has the one that is given for it", () => {
  const since = versionedDecoder({
    field: "v",
    absent: 1,
    current: 2,
    shape: objectOf({ name: STRING }),
    older: { 1: upgrade(objectOf({ title: STRING }), ({ title }) => ({ name: title })) },
  })
  expect(since({ title: "a" })).toEqual({ tag: "value", value: { name: "a" } })
})
