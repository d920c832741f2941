import { Failure, ANY } from "@meridian/protocol"
import { expect, test } from "vitest"

import { decodeInput } from "./decode-input.ts"
import { inputSchema } from "./input-schema.ts"
import { defineMeta } from "./operation.ts"

const META = defineMeta({
  name: "run.test",
  audience: "agent",
  tool: "run_test",
  summary: "Test.",
  fields: {
    runId: { type: "string", description: "The run.", positional: true, required: true },
    skills: { type: "strings", description: "Skills.", split: true },
    limit: { type: "integer", description: "At most.", default: 20, minimum: 1 },
    timeoutSecs: { type: "seconds", description: "Time.", flag: "timeout" },
    status: { type: "string", description: "Status.", choices: ["failed", "running"] },
    report: { type: "boolean", description: "Report.", only: "command" },
  },
  output: ANY,
})

const failureOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof Failure) return `${error.message} Next: ${error.next}`
    throw error
  }
  return "no failure"
}

test("the words of a command become typed input, with defaults and the set of given options", () => {
  const values = { run_id: "r1", skills: ["a, b", "c"], timeout_secs: "5m", report: true }
  expect(decodeInput(META, { values, face: "command" })).toEqual({
    runId: "r1",
    skills: ["a", "b", "c"],
    limit: 20,
    timeoutSecs: 300,
    status: undefined,
    report: true,
    passthrough: [],
    given: new Set(["runId", "skills", "timeoutSecs", "report"]),
  })
})

test.each([
  [{}, "RUN_ID is required."],
  [{ run_id: "r1", limit: "x" }, '--limit must be a whole number of at least 1, got "x".'],
  [{ run_id: "r1", limit: "0" }, '--limit must be a whole number of at least 1, got "0".'],
  [{ run_id: "r1", limit: "1.5" }, '--limit must be a whole number of at least 1, got "1.5".'],
  [
    { run_id: "r1", timeout_secs: "0" },
    '--timeout must be a time above zero such as 90, 90s, 5m or 2h, got "0".',
  ],
  [{ run_id: "r1", status: "done" }, '--status must be one of failed, running, got "done".'],
])("%j is refused with the flag and what was expected", (values, problem) => {
  expect(failureOf(() => decodeInput(META, { values, face: "command" }))).toBe(
    `${problem} Next: run 'meridian run test --help'.`,
  )
})

test("a refused tool call uses the names of its own schema, and unknown arguments get a suggestion", () => {
  expect(failureOf(() => decodeInput(META, { values: { run_id: 7 }, face: "tool" }))).toBe(
    "'run_id' must be text, got 7. Next: correct the arguments of run_test and call it again.",
  )
  expect(failureOf(() => decodeInput(META, { values: { runid: "r1" }, face: "tool" }))).toMatch(
    /^Unknown argument 'runid', did you mean 'run_id'\?/,
  )
  expect(
    failureOf(() => decodeInput(META, { values: { run_id: "r1", report: true }, face: "tool" })),
  ).toMatch(/^Unknown argument 'report'/)
})

test("the schema of a tool has its real types, requirements and defaults", () => {
  expect(inputSchema(META.fields)).toEqual({
    type: "object",
    properties: {
      run_id: { type: "string", description: "The run." },
      skills: { type: "array", items: { type: "string" }, description: "Skills." },
      limit: { type: "integer", minimum: 1, description: "At most.", default: 20 },
      timeout_secs: { type: "number", exclusiveMinimum: 0, description: "Time." },
      status: { type: "string", enum: ["failed", "running"], description: "Status." },
    },
    required: ["run_id"],
    additionalProperties: false,
  })
})
