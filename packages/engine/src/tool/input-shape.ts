/**
 * The input of a built-in tool, said once: the JSON Schema that the model sees and the decoder that checks what it sends
 * come from the same fields. Models misname fields in known ways (`filePath` for `path`), so a field may have other
 * names; they are accepted, never advertised. Fields nobody knows are ignored.
 */
import type { Json, JsonObject } from "@meridian/protocol"

import { ToolError } from "../port/tool.ts"

export interface Field<Value> {
  readonly schema: JsonObject
  readonly required: boolean
  readonly otherNames: readonly string[]
  /** Throws a ToolError that names the field. Never called with undefined. */
  readonly decode: (value: Json, name: string) => Value
}

type Fields = { readonly [name: string]: Field<unknown> }
export type InputOf<Shape extends Fields> = {
  readonly [name in keyof Shape]: Shape[name] extends Field<infer Value> ? Value : never
}

export interface InputShape<Value> {
  readonly schema: JsonObject
  readonly decode: (input: Json) => Value
}

export const inputShape = <Shape extends Fields>(fields: Shape): InputShape<InputOf<Shape>> => {
  const entries = Object.entries(fields)
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(entries.map(([name, field]) => [name, field.schema])),
      required: entries.flatMap(([name, field]) => (field.required ? [name] : [])),
      additionalProperties: false,
    },
    decode: (input) => {
      if (!isJsonObject(input)) throw invalid(`The input must be an object, not ${kindOf(input)}.`)
      const decoded = entries.map(([name, field]) => [name, decodeField(input, name, field)] as const)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each entry was decoded by the field of that name
      return Object.fromEntries(decoded) as InputOf<Shape>
    },
  }
}

interface TextOptions {
  readonly describe: string
  readonly longest?: number
  readonly mayBeEmpty?: boolean
  readonly otherNames?: readonly string[]
}

export const text = (options: TextOptions): Field<string> => ({
  schema: { type: "string", description: options.describe },
  required: true,
  otherNames: options.otherNames ?? [],
  decode: (value, name) => {
    if (typeof value !== "string") throw invalid(`\`${name}\` must be a string, not ${kindOf(value)}.`)
    if (value === "" && options.mayBeEmpty !== true) throw invalid(`\`${name}\` is empty.`)
    if (options.longest !== undefined && value.length > options.longest)
      throw invalid(`\`${name}\` has ${value.length} characters; at most ${options.longest} are accepted.`)
    return value
  },
})

interface IntegerOptions {
  readonly describe: string
  readonly least: number
  readonly most: number
  readonly otherNames?: readonly string[]
}

export const integer = (options: IntegerOptions): Field<number> => ({
  schema: {
    type: "integer",
    description: options.describe,
    minimum: options.least,
    maximum: options.most,
  },
  required: true,
  otherNames: options.otherNames ?? [],
  decode: (value, name) => {
    const number = typeof value === "string" && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : value
    if (typeof number !== "number" || !Number.isInteger(number))
      throw invalid(`\`${name}\` must be a whole number, not ${kindOf(value)}.`)
    if (number < options.least || number > options.most)
      throw invalid(`\`${name}\` must be between ${options.least} and ${options.most}, not ${number}.`)
    return number
  },
})

export const truth = (options: {
  readonly describe: string
  readonly otherNames?: readonly string[]
}): Field<boolean> => ({
  schema: { type: "boolean", description: options.describe },
  required: true,
  otherNames: options.otherNames ?? [],
  decode: (value, name) => {
    if (value === "true" || value === true) return true
    if (value === "false" || value === false) return false
    throw invalid(`\`${name}\` must be true or false, not ${kindOf(value)}.`)
  },
})

/** Left out and null mean the same: models write null for what they do not need. */
export const optional = <Value>(field: Field<Value>): Field<Value | undefined> => ({
  ...field,
  required: false,
})

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const invalid = (message: string): ToolError => new ToolError("invalid-input", message)

export const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`

const decodeField = (input: JsonObject, name: string, field: Field<unknown>): unknown => {
  const given = [name, ...field.otherNames].find((key) => Object.hasOwn(input, key) && input[key] !== null)
  const value = given === undefined ? undefined : input[given]
  if (value !== undefined) return field.decode(value, name)
  if (field.required) throw invalid(`\`${name}\` is missing.`)
  return undefined
}
