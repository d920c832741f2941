/**
 * The one way to describe the form of a value. A shape gives the TypeScript type (`TypeOf`), the decoder (`decode.ts`), the
 * JSON Schema (`json-schema.ts`) and the names on the wire.
 *
 *   const PROMPT = objectOf({ text: STRING }, { files: listOf(FILE) })
 *   type Prompt = TypeOf<typeof PROMPT>
 *
 * At run time a shape is a valibot schema whose message holds the words for what it expects. Only this folder knows that.
 * The type of a shape is ours, so values are readonly, optional means absent, and no shipped declaration needs the library.
 */
import * as v from "valibot"

import { isJsonObject, type Json, type JsonObject } from "../json.ts"
import { mapSchema, objectSchema, piped, schemaOf, variantSchema, wordsOf, type Schema } from "./schema.ts"

declare const value: unique symbol

/** `[value]` is never set; it only carries the type. */
export interface Shape<out T> {
  readonly kind: "schema"
  readonly [value]?: T
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never

type Fields = Readonly<Record<string, Shape<unknown>>>
type NoFields = { readonly [Key in never]: Shape<unknown> }
type Flat<T> = { readonly [Key in keyof T]: T[Key] }

export type ObjectOf<R extends Fields, O extends Fields = NoFields> = Flat<
  { readonly [Key in keyof R]: TypeOf<R[Key]> } & { readonly [Key in keyof O]?: TypeOf<O[Key]> }
>

/** Each constructor below states the type that its schema accepts. */
const shape = <T>(from: Schema): Shape<T> => from

export const STRING: Shape<string> = shape(v.string("text"))
/** Never NaN or infinite, because JSON has neither. */
export const NUMBER: Shape<number> = shape(numeric("a number"))
export const INTEGER: Shape<number> = shape(whole("a whole number"))
/** A whole number that is not negative: counts, sequences, times. */
export const COUNT: Shape<number> = shape(
  piped(whole("a whole number of at least 0"), [v.minValue(0, "a whole number of at least 0")]),
)
export const BOOLEAN: Shape<boolean> = shape(v.boolean("true or false"))
/** Any JSON. It is not checked further, because decoded values come from JSON text. */
export const ANY: Shape<Json> = shape(v.custom((given) => given !== undefined, "any value"))
/** An object whose keys are data and whose values are any JSON. */
export const ANY_OBJECT: Shape<JsonObject> = shape(
  // The metadata becomes part of the JSON Schema.
  piped(v.custom(isJsonObject, "an object"), [v.metadata({ type: "object" })]),
)

/** Text within bounds. A pattern comes with words for what fits it, such as "an absolute path". */
export const text = (bounds: {
  readonly least?: number
  readonly most?: number
  readonly pattern?: RegExp
  readonly like?: string
}): Shape<string> => {
  const { least, most, pattern, like } = bounds
  const words =
    like ??
    `text${least === 1 ? " that is not empty" : ""}${most === undefined ? "" : ` of at most ${most} characters`}`
  return shape(
    piped(v.string(words), [
      ...(least === undefined ? [] : [v.minLength(least, words)]),
      ...(most === undefined ? [] : [v.maxLength(most, words)]),
      ...(pattern === undefined ? [] : [v.regex(pattern, words)]),
    ]),
  )
}

export const integer = (least: number, most: number): Shape<number> => {
  const words = `a whole number from ${least} to ${most}`
  return shape(piped(whole(words), [v.minValue(least, words), v.maxValue(most, words)]))
}

/** A number with bounds: `least` and `most` are included, `above` is not. */
export const number = (
  bound: { readonly least: number; readonly most?: number } | { readonly above: number },
): Shape<number> => {
  if ("above" in bound) {
    const words = `a number above ${bound.above}`
    return shape(piped(numeric(words), [v.gtValue(bound.above, words)]))
  }
  const { least, most } = bound
  const words = most === undefined ? `a number of at least ${least}` : `a number from ${least} to ${most}`
  return shape(
    piped(numeric(words), [
      v.minValue(least, words),
      ...(most === undefined ? [] : [v.maxValue(most, words)]),
    ]),
  )
}

export const oneOf = <const Values extends readonly string[]>(...values: Values): Shape<Values[number]> =>
  shape(v.picklist(values, values.length === 1 ? JSON.stringify(values[0]) : `one of ${values.join(", ")}`))

export const listOf = <T>(item: Shape<T>, most?: number): Shape<readonly T[]> => {
  const words = most === undefined ? "a list" : `a list of at most ${most}`
  const list = v.array(schemaOf(item), words)
  return shape(most === undefined ? list : piped(list, [v.maxLength(most, words)]))
}

/** Keys are data: model names, variables. */
export const mapOf = <T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  shape(mapSchema(schemaOf(item)))

/** What happens to an unlisted key is up to the reader: see `Reading`. */
export const objectOf = <R extends Fields, O extends Fields = NoFields>(
  required: R,
  optional?: O,
): Shape<ObjectOf<R, O>> =>
  shape(
    objectSchema({
      ...mapFields(required, schemaOf),
      ...mapFields(optional ?? {}, (field) => v.optional(schemaOf(field))),
    }),
  )

/** One of several objects, distinguished by the text in one field. */
export const taggedBy = <Shapes extends readonly Shape<object>[]>(
  tag: string,
  ...shapes: Shapes
): Shape<TypeOf<Shapes[number]>> => shape(variantSchema(tag, shapes.map(schemaOf)))

/** One of several unrelated forms. Prefer `taggedBy`, which locates problems better. */
export const anyOf = <Shapes extends readonly Shape<unknown>[]>(
  ...shapes: Shapes
): Shape<TypeOf<Shapes[number]>> => {
  const options = shapes.map(schemaOf)
  return shape(v.union(options, options.map(wordsOf).join(" or ")))
}

/** A value that JSON cannot hold, such as a function. `like` says what is expected. */
export const something = <T>(like: string, test: (value: unknown) => boolean): Shape<T> =>
  shape(v.custom(test, like))

/** The same texts with a branded type, for ids. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the brand
export const branded = <T extends string>(from: Shape<string>): Shape<T> => shape(schemaOf(from))

export const described = <T>(from: Shape<T>, description: string): Shape<T> =>
  shape(piped(schemaOf(from), [v.description(description)]))

/** Gives a shape a name in documents that can refer to it. */
export const named = <T>(title: string, from: Shape<T>): Shape<T> =>
  shape(piped(schemaOf(from), [v.title(title)]))

/**
 * Alternative names of the field for a loose reader. Models misname fields in known ways; this accepts those names and
 * never advertises them.
 */
export const alsoNamed = <T>(from: Shape<T>, ...otherNames: readonly string[]): Shape<T> =>
  shape(piped(schemaOf(from), [v.metadata({ otherNames })]))

function numeric(words: string): Schema {
  return piped(v.number(words), [v.finite(words)])
}

function whole(words: string): Schema {
  return piped(v.number(words), [v.integer(words)])
}

const mapFields = (
  fields: Fields,
  change: (field: Shape<unknown>) => Schema,
): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]))
