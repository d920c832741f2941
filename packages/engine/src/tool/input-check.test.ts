import type { JsonObject } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openForeignInputCheck, openInputCheck } from "./input-check.ts"

const SCHEMA: JsonObject = {
  type: "object",
  properties: { text: { type: "string" }, times: { type: "integer", minimum: 1 } },
  required: ["text"],
}

test("an input that fits passes, and one that does not is reported field by field", async () => {
  const check = openInputCheck(SCHEMA)
  await expect(check({ text: "hi", times: 1 })).resolves.toBeUndefined()
  await expect(check({ text: 7, times: 0 })).rejects.toMatchObject({
    code: "invalid-input",
    message: expect.stringMatching(/^The input does not fit the tool: .*`text`.*`times`/),
  })
  await expect(check({})).rejects.toMatchObject({ message: expect.stringContaining("text") })
})

test.each([
  ["https://json-schema.org/draft/2020-12/schema"],
  ["http://json-schema.org/draft-07/schema#"],
  ["http://json-schema.org/draft-04/schema#"],
  ["https://json-schema.org/draft/2019-09/schema"],
])("a schema of %s is understood", async ($schema) => {
  const check = openForeignInputCheck({ ...SCHEMA, $schema })
  await expect(check({ text: "hi" })).resolves.toBeUndefined()
  await expect(check({ text: [] })).rejects.toMatchObject({ code: "invalid-input" })
})

test.each([
  [{ type: "object", properties: { a: { $ref: "#/nowhere" } } }],
  [{ type: "object", properties: { a: { type: "string", pattern: "(" } } }],
])("a stranger's schema that cannot be understood checks nothing: %j", async (schema) => {
  await expect(openForeignInputCheck(schema)({ a: "x" })).resolves.toBeUndefined()
})
