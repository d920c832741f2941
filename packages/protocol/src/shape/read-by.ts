/** A shape's schema as one kind of edge reads it. */
import * as v from "valibot"

import { isJsonObject } from "../json.ts"
import type { Reading } from "./reading.ts"
import {
  mapSchema,
  nodeOf,
  objectSchema,
  piped,
  prepared,
  variantSchema,
  wordsOf,
  type Schema,
} from "./schema.ts"
import { snakeName } from "./wire-name.ts"

/** The schema of the same values for one kind of edge. Made once per reader, not per value. */
export const readBy = (schema: Schema, reading: Reading): Schema => {
  const inner = (child: Schema): Schema => readBy(child, reading)
  const node = nodeOf(schema)
  switch (node.type) {
    case "pipe":
      return piped(inner(node.first), node.actions)
    case "strict_object":
      return readObject(mapValues(node.entries, inner), reading)
    case "record":
      return mapSchema(inner(node.value))
    case "optional":
      return v.optional(inner(node.wrapped))
    case "array":
      return v.array(inner(node.item), wordsOf(schema))
    case "union":
      return v.union(node.options.map(inner), wordsOf(schema))
    case "variant":
      return variantSchema(outsideName(node.key, reading), node.options.map(inner))
    case "number":
      return reading.loose === true ? prepared(schema, numberOf) : schema
    case "boolean":
      return reading.loose === true ? prepared(schema, booleanOf) : schema
    case "string":
    case "picklist":
    case "custom":
      return schema
  }
}

export const outsideName = (name: string, { names = "same" }: Reading): string =>
  names === "snake" ? snakeName(name) : name

const readObject = (entries: Readonly<Record<string, Schema>>, reading: Reading): Schema => {
  const names = Object.keys(entries).map((name) => [outsideName(name, reading), name] as const)
  const outside = Object.fromEntries(names.map(([written, name]) => [written, entries[name] ?? v.never()]))
  const schema = objectSchema(outside, reading.unknown)
  const forgiving = reading.loose === true ? prepared(schema, forgive(otherNames(outside))) : schema
  const inside = new Map(names)
  return names.every(([written, name]) => written === name) ? forgiving : renamed(forgiving, inside)
}

/** Replaces outside names by our own in what was accepted. */
const renamed = (schema: Schema, inside: ReadonlyMap<string, string>): Schema => ({
  ...schema,
  "~run": (dataset, config) => {
    const result = schema["~run"](dataset, config)
    if (result.typed && isJsonObject(result.value))
      result.value = mapNames(result.value, (name) => inside.get(name) ?? name)
    return result
  },
})

const forgive =
  (known: ReadonlyMap<string, string>) =>
  (value: unknown): unknown => {
    if (!isJsonObject(value)) return value
    const given = Object.entries(value).filter(([, item]) => item !== null)
    const names = new Set(given.map(([name]) => name))
    return Object.fromEntries(
      given.flatMap(([name, item]) => {
        const meant = known.get(name)
        return meant === undefined ? [[name, item]] : names.has(meant) ? [] : [[meant, item]]
      }),
    )
  }

/** Outside name -> our name. */
const otherNames = (entries: Readonly<Record<string, Schema>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(entries).flatMap(([name, entry]) => {
      const node = nodeOf(entry)
      const { otherNames: others } = v.getMetadata(node.type === "optional" ? node.wrapped : entry)
      return Array.isArray(others) ? others.map((other) => [String(other), name] as const) : []
    }),
  )

const numberOf = (value: unknown): unknown =>
  typeof value === "string" && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value

const booleanOf = (value: unknown): unknown => (value === "true" ? true : value === "false" ? false : value)

const mapValues = <A, B>(values: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(values).map(([name, item]) => [name, change(item)]))

const mapNames = (value: object, change: (name: string) => string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), item]))
