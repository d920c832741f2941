/** A shape as JSON Schema (2020-12): what OpenAPI, MCP and models are shown. Unknown keys are always forbidden there. */
import { toJsonSchema } from "@valibot/to-json-schema"

import type { JsonObject } from "../json.ts"
import { readBy } from "./read-by.ts"
import type { Reading } from "./reading.ts"
import { schemaOf } from "./schema.ts"
import type { Shape } from "./shape.ts"

export const jsonSchema = (shape: Shape<unknown>, names: Reading["names"] = "same"): JsonObject => {
  const { $schema: _version, ...schema } = toJsonSchema(readBy(schemaOf(shape), { names }), {
    target: "draft-2020-12",
    // A function has no JSON: anything may stand there.
    errorMode: "ignore",
    overrideSchema: ({ jsonSchema: node }) => without(node, "propertyNames"),
    overrideAction: ({ jsonSchema: node }) => without(node, "otherNames"),
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema is JSON
  return schema as JsonObject
}

/** Keys of JSON are text anyway, and other names are never advertised. */
const without = <Node extends object>(node: Node, key: string): Node => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every key of a JSON Schema is optional
  return Object.fromEntries(Object.entries(node).filter(([name]) => name !== key)) as Node
}
