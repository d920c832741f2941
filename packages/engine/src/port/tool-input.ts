/**
 * The input of a built-in tool, defined once as a shape. The model sees its JSON Schema, and the shape also reads what the
 * model sends. Models misname fields in known ways, write null for omitted fields and numbers as text; a loose reader
 * accepts all of that. Unknown fields are ignored, unless the tool refuses them.
 */
import {
  alsoNamed,
  decoder,
  described,
  jsonSchema,
  problemText,
  text,
  type Json,
  type JsonObject,
  type Shape,
} from "@meridian/protocol"

import { ToolError } from "./tool.ts"

export interface ToolInput<Value> {
  readonly schema: JsonObject
  /** Throws a ToolError that names the field. */
  readonly decode: (input: Json) => Value
}

export const toolInput = <Value>(
  shape: Shape<Value>,
  unknown: "strip" | "refuse" = "strip",
): ToolInput<Value> => {
  const decode = decoder(shape, { unknown, loose: true })
  return {
    schema: jsonSchema(shape),
    decode: (input) => {
      const decoded = decode(input)
      if (decoded.tag === "value") return decoded.value
      throw new ToolError("invalid-input", `${problemText(decoded.problem, "The input")}.`)
    },
  }
}

/** Text that is not empty. */
export const SOME_TEXT: Shape<string> = text({ least: 1 })

export const FILE_PATH = (description: string): Shape<string> =>
  alsoNamed(described(SOME_TEXT, description), "filePath", "file_path")
