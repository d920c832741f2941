import * as fc from "fast-check"
import { expect, test } from "vitest"

import { arbitraryOf } from "../../../../test/shape-arbitrary.ts"
import { decoder } from "./decode.ts"
import { encoder } from "./encode.ts"
import { jsonSchema } from "./json-schema.ts"
import {
  alsoNamed,
  ANY,
  ANY_OBJECT,
  anyOf,
  COUNT,
  described,
  integer,
  listOf,
  mapOf,
  named,
  number,
  objectOf,
  oneOf,
  something,
  STRING,
  taggedBy,
  text,
} from "./shape.ts"
import { snakeName } from "./wire-name.ts"

const RECORD = objectOf(
  { runId: STRING, sessionID: STRING },
  {
    costUSD: COUNT,
    byModel: mapOf(objectOf({ inputTokens: COUNT })),
    results: listOf(
      taggedBy(
        "toolKind",
        objectOf({ toolKind: oneOf("read"), filePath: STRING }),
        objectOf({ toolKind: oneOf("bash"), exitCode: COUNT }),
      ),
    ),
  },
)

test.each([
  ["runId", "run_id"],
  ["sessionID", "session_id"],
  ["costUSD", "cost_usd"],
  ["HTTPStatus", "http_status"],
  ["sha256Sum", "sha256_sum"],
  ["plain", "plain"],
])("%s is written %s", (name, written) => {
  expect(snakeName(name)).toBe(written)
})

test("a value is written with the names of the wire, absent fields left out, keys of maps as they are", () => {
  const value = {
    runId: "r1",
    sessionID: "s",
    byModel: { "Model/One": { inputTokens: 1 } },
    results: [{ toolKind: "bash" as const, exitCode: 1 }],
  }
  expect(encoder(RECORD, "snake")(value)).toEqual({
    run_id: "r1",
    session_id: "s",
    by_model: { "Model/One": { input_tokens: 1 } },
    results: [{ tool_kind: "bash", exit_code: 1 }],
  })
})

test("what is written can be read again", () => {
  const decode = decoder(RECORD, { names: "snake" })
  const encode = encoder(RECORD, "snake")
  fc.assert(
    fc.property(arbitraryOf(RECORD), (value) => {
      expect(decode(encode(value))).toEqual({ tag: "value", value })
    }),
  )
})

test("a shape as JSON Schema", () => {
  const shape = named(
    "Example",
    objectOf(
      { path: alsoNamed(described(text({ most: 10 }), "Where."), "filePath"), someCount: COUNT },
      {
        kind: oneOf("a", "b"),
        level: integer(1, 5),
        above: number({ above: 0 }),
        list: listOf(STRING, 3),
        map: mapOf(STRING),
        any: ANY,
        object: ANY_OBJECT,
        either: anyOf(STRING, COUNT),
        callback: something("a function", () => true),
      },
    ),
  )
  expect(jsonSchema(shape, "snake")).toEqual({
    title: "Example",
    type: "object",
    properties: {
      path: { type: "string", maxLength: 10, description: "Where." },
      some_count: { type: "integer", minimum: 0 },
      kind: { type: "string", enum: ["a", "b"] },
      level: { type: "integer", minimum: 1, maximum: 5 },
      above: { type: "number", exclusiveMinimum: 0 },
      list: { type: "array", items: { type: "string" }, maxItems: 3 },
      map: { type: "object", additionalProperties: { type: "string" } },
      any: {},
      object: { type: "object" },
      either: { anyOf: [{ type: "string" }, { type: "integer", minimum: 0 }] },
      callback: {},
    },
    required: ["path", "some_count"],
    additionalProperties: false,
  })
})
