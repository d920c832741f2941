/** A shape as JSON Schema (2020-12), for OpenAPI, MCP and models. It always forbids unknown keys. */
import { toJsonSchema } from "@valibot/to-json-schema"

import type { JsonObject } from "../json.ts"
import { readBy } from "./read-by.ts"
import type { Reading } from "./reading.ts"
import { schemaOf } from "./schema.ts"
import type { Shape } from "./shape.ts"

export const jsonSchema = (shape: Shape<unknown>, names: Reading["names"] = "same"): JsonObject => {
  const { $schema: _version, ...schema } = toJsonSchema(readBy(schemaOf(shape), { names }), {
    target: "draft-2020-12",
    // A function has no JSON form, so it accepts anything.
    errorMode: "ignore",
    overrideSchema: ({ jsonSchema: node }) => without(node, "propertyNames"),
    overrideAction: ({ jsonSchema: node }) => without(node, "otherNames"),
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema is JSON
  return schema as JsonObject
}

/** JSON keys are text anyway, and alternative names are never advertised. */
const without = <Node extends object>(node: Node, key: string): Node => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every key of a JSON Schema is optional
  return Object.fromEntries(Object.entries(node).filter(([name]) => name !== key)) as Node
}
