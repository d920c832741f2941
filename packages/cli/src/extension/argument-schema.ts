/** The arguments of an OpenCode tool, which are schemas of Zod, as the JSON Schema of an object. */
import { isJsonObject, type JsonObject } from "@meridian/protocol"

export const argumentSchema = (args: unknown): JsonObject => {
  const fields = Object.entries(Object(args))
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, fieldSchema(schema)])),
    required: fields.filter(([, schema]) => !isOptional(schema)).map(([name]) => name),
  }
}

/** A schema that cannot describe itself accepts anything. */
const fieldSchema = (schema: unknown): JsonObject => {
  const write: unknown = Reflect.get(Object(schema), "toJSONSchema")
  if (typeof write !== "function") return {}
  try {
    const written: unknown = Reflect.apply(write, schema, [])
    if (!isJsonObject(written)) return {}
    const { $schema: _dialect, ...plain } = written
    return plain
  } catch {
    return {}
  }
}

const isOptional = (schema: unknown): boolean => {
  const ask: unknown = Reflect.get(Object(schema), "isOptional")
  return typeof ask === "function" && Reflect.apply(ask, schema, []) === true
}
