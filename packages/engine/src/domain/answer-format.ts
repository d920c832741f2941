/**
 * An answer in a given form: the schema of a prompt, what the model is told about it, and how to read a text as such an
 * answer. The schema is checked completely when the prompt is admitted. At the first turn it would be too late to report a
 * flaw.
 */
import {
  Failure,
  isJsonList,
  isJsonObject,
  type AnswerFormat,
  type Json,
  type JsonObject,
} from "@meridian/protocol"

import { readForeignJson } from "./foreign-json.ts"
import { LIMITS } from "./limits.ts"

/** The tool that takes the answer when the provider has no native mode for it. */
export const ANSWER_TOOL = "structured_output"

/** Throws INVALID_INPUT. The returned copy is pure JSON. */
export const checkFormat = ({ type, schema }: AnswerFormat): AnswerFormat => {
  const read = readForeignJson(schema, { depth: LIMITS.schemaLevels, characters: LIMITS.schemaCharacters })
  if (read.kind === "problem") throw wrong(read.why)
  if (!isJsonObject(read.value)) throw wrong("must be an object")
  const flaw = findSchemaFlaw(read.value)
  if (flaw !== undefined) throw wrong(flaw)
  return { type, schema: read.value }
}

const wrong = (why: string): Failure => new Failure("INVALID_INPUT", { what: `\`format.schema\` ${why}` })

export interface AnswerSchema {
  /** Always an object schema, because every provider wants one for a tool's input. */
  readonly schema: JsonObject
  readonly answerOf: (given: Json) => Json
}

export const answerSchema = ({ schema }: AnswerFormat): AnswerSchema => {
  if (schema["type"] === "object") return { schema, answerOf: (given) => given }
  // References count from the root, so shared definitions stay at the root.
  const shared = Object.fromEntries(
    SHARED.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]])),
  )
  return {
    schema: {
      type: "object",
      properties: { value: without(schema, SHARED) },
      required: ["value"],
      additionalProperties: false,
      ...shared,
    },
    answerOf: (given) => (isJsonObject(given) ? (given["value"] ?? null) : null),
  }
}

const SHARED = ["$defs", "definitions"] as const

const without = (schema: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))

/** What the model is told while the format is in force: how to answer, and what was wrong with its last answer. */
export const answerPolicy = (mode: "tool" | "native", problem: string | undefined): string => {
  const policy =
    mode === "tool"
      ? `Whoever gave you this work needs its result as data. When the work is done, call ${ANSWER_TOOL} once with the result: that ends the work. Words alone do not.`
      : "Whoever gave you this work needs its result as data. Answer with one JSON value of the given schema and nothing else."
  return problem === undefined
    ? policy
    : `${policy}\n\nYour last answer was not taken: ${problem} Give it again, as it must be.`
}

/** Reads text that is one JSON value, with or without the fences that models like to put around it. */
export const readAnswerText = (text: string): Json | undefined => {
  const trimmed = text.trim()
  const fenced = /^```(?:json)?\s*\n([\s\S]*)\n```$/.exec(trimmed)?.[1]
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- the codec of a model's answer
    return JSON.parse(fenced ?? trimmed) as Json
  } catch {
    return undefined
  }
}

const TYPES: ReadonlySet<unknown> = new Set([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
])

type Flaw = string | undefined
/** Checks the value of one keyword. */
type Look = (value: Json, at: Place) => Flaw

interface Place {
  readonly root: JsonObject
  /** The path for error messages. */
  readonly path: string
  /** The references that led here. */
  readonly through: readonly string[]
  /**
   * How many more schemas may be visited. A schema counts each time it is referenced, because each time a value is checked
   * against it.
   */
  readonly room: { left: number }
}

/** Why no value could be checked against the schema; undefined when it is sound. */
const findSchemaFlaw = (root: JsonObject): Flaw =>
  lookAtSchema(root, { root, path: "", through: [], room: { left: LIMITS.schemaVisits } })

const lookAtSchema: Look = (schema, at) => {
  if (typeof schema === "boolean") return undefined
  if (!isJsonObject(schema)) return `has no schema at ${shown(at)}`
  at.room.left -= 1
  if (at.room.left < 0) return "says too much: its parts are referred to too often"
  for (const [keyword, value] of Object.entries(schema)) {
    const flaw = KEYWORDS.get(keyword)?.(value, { ...at, path: `${at.path}/${keyword}` })
    if (flaw !== undefined) return flaw
  }
  return undefined
}

const eachOf =
  (look: Look): Look =>
  (value, at) => {
    if (!isJsonObject(value)) return `must have an object at ${shown(at)}`
    for (const [name, inner] of Object.entries(value)) {
      const flaw = look(inner, { ...at, path: `${at.path}/${name}` })
      if (flaw !== undefined) return flaw
    }
    return undefined
  }

const listed =
  (look: Look): Look =>
  (value, at) => {
    if (!isJsonList(value) || value.length === 0) return `must have a list at ${shown(at)}`
    for (const [index, inner] of value.entries()) {
      const flaw = look(inner, { ...at, path: `${at.path}/${index}` })
      if (flaw !== undefined) return flaw
    }
    return undefined
  }

const lookAtReference: Look = (value, at) => {
  if (typeof value !== "string" || !/^#\/(\$defs|definitions)\/./.test(value))
    return `refers at ${shown(at)} to something besides its own \`$defs\``
  if (at.through.includes(value)) return `refers to itself by ${value}`
  const target = value
    .slice(2)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<Json | undefined>(
      (from, name) => (isJsonObject(from) && Object.hasOwn(from, name) ? from[name] : undefined),
      at.root,
    )
  if (target === undefined) return `refers to ${value}, which is not there`
  if (at.through.length >= LIMITS.schemaLevels) return `has references that lead too far`
  return lookAtSchema(target, { ...at, through: [...at.through, value] })
}

const lookAtPattern: Look = (value, at) => {
  if (typeof value !== "string") return `must have text at ${shown(at)}`
  try {
    // oxlint-disable-next-line eslint/no-new, eslint/no-unused-expressions -- whether it can be made is the question
    new RegExp(value, "u")
    return undefined
  } catch {
    return `has an invalid pattern at ${shown(at)}`
  }
}

const is =
  (like: string, test: (value: Json) => boolean): Look =>
  (value, at) =>
    test(value) ? undefined : `must have ${like} at ${shown(at)}`

const isText = (value: Json): boolean => typeof value === "string"
const aNumber = is("a number", (value) => typeof value === "number")
const aCount = is("a whole number", (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const aSchema = lookAtSchema
const someSchemas = listed(lookAtSchema)

const KEYWORDS: ReadonlyMap<string, Look> = new Map<string, Look>([
  [
    "type",
    is(
      "the name of a type",
      (value) => TYPES.has(value) || (isJsonList(value) && value.every((one) => TYPES.has(one))),
    ),
  ],
  ["enum", is("a list", (value) => isJsonList(value) && value.length > 0)],
  ["required", is("a list of names", (value) => isJsonList(value) && value.every(isText))],
  ["items", (value, at) => (isJsonList(value) ? someSchemas : aSchema)(value, at)],
  ["pattern", lookAtPattern],
  ["$ref", lookAtReference],
  ["$dynamicRef", lookAtReference],
  ...["properties", "$defs", "definitions", "dependentSchemas", "patternProperties"].map(
    (name) => [name, eachOf(aSchema)] as const,
  ),
  ...["anyOf", "allOf", "oneOf", "prefixItems"].map((name) => [name, someSchemas] as const),
  ...[
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
  ].map((name) => [name, aSchema] as const),
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"].map(
    (name) => [name, aNumber] as const,
  ),
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map(
    (name) => [name, aCount] as const,
  ),
])

const shown = ({ path }: Place): string => (path === "" ? "its root" : `\`${path.slice(1, 200)}\``)
