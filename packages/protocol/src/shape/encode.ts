/** A value as an edge writes it: with the names of the wire, without absent fields. Keys of maps are data and stay. */
import { isJsonObject, type Json, type JsonObject } from "../json.ts"
import { accepts } from "./accepts.ts"
import { outsideName } from "./read-by.ts"
import type { Reading } from "./reading.ts"
import { nodeOf, schemaOf, type Schema } from "./schema.ts"
import type { Shape } from "./shape.ts"

export const encoder = <T extends object>(
  shape: Shape<T>,
  names: NonNullable<Reading["names"]>,
): ((value: T) => JsonObject) => {
  const encode = encoderOf(schemaOf(shape), { names })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only names changed: an object stays one
  return (value) => encode(value as unknown as Json) as JsonObject
}

type Encode = (value: Json) => Json

const encoderOf = (schema: Schema, reading: Reading): Encode => {
  const inner = (child: Schema): Encode => encoderOf(child, reading)
  const node = nodeOf(schema)
  switch (node.type) {
    case "pipe":
      return inner(node.first)
    case "optional":
      return inner(node.wrapped)
    case "array": {
      const encode = inner(node.item)
      return (value) => (Array.isArray(value) ? value.map((item: Json) => encode(item)) : value)
    }
    case "record": {
      const encode = inner(node.value)
      return (value) => mapEntries(value, (key, item) => [key, encode(item)])
    }
    case "strict_object": {
      const fields = new Map(
        Object.entries(node.entries).map(([name, entry]) => [
          name,
          { written: outsideName(name, reading), encode: inner(entry) },
        ]),
      )
      return (value) =>
        mapEntries(value, (name, item) => {
          const field = fields.get(name)
          return field === undefined ? [name, item] : [field.written, field.encode(item)]
        })
    }
    case "variant":
    case "union": {
      const options = node.options.map((option) => ({ test: accepts(option, "keep"), encode: inner(option) }))
      return (value) => options.find(({ test }) => test(value))?.encode(value) ?? value
    }
    case "picklist":
    case "custom":
    case "string":
    case "number":
    case "boolean":
      return (value) => value
  }
}

const mapEntries = (value: Json, change: (key: string, item: Json) => readonly [string, Json]): Json =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [change(key, item)])),
      )
    : value
