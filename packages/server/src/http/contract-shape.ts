/**
 * A shape is a JSON schema that remembers its TypeScript type. The server checks what comes in against it, the OpenAPI
 * document prints it, the client takes its types from it. Runs anywhere: the page imports it.
 */
import type { Json, JsonObject } from "@meridian/protocol"

/** `document` is never set: it carries the type. */
export interface Shape<out T> {
  readonly json: JsonObject
  readonly document?: T
}

export type DocumentOf<S> = S extends Shape<infer T> ? T : never

type Properties = Readonly<Record<string, Shape<unknown>>>
type NoProperties = { readonly [Key in never]: Shape<unknown> }

export type ObjectOf<R extends Properties, O extends Properties> = {
  readonly [Key in keyof R]: DocumentOf<R[Key]>
} & { readonly [Key in keyof O]?: DocumentOf<O[Key]> }

export const STRING: Shape<string> = { json: { type: "string" } }
export const INTEGER: Shape<number> = { json: { type: "integer" } }
/** Whole and not negative: counts, sequence numbers, times. */
export const COUNT: Shape<number> = { json: { type: "integer", minimum: 0 } }
export const NUMBER: Shape<number> = { json: { type: "number" } }
export const BOOLEAN: Shape<boolean> = { json: { type: "boolean" } }
/** Any value at all. */
export const ANY: Shape<Json> = { json: {} }
export const ANY_OBJECT: Shape<JsonObject> = { json: { type: "object" } }

export const described = <T>(shape: Shape<T>, description: string): Shape<T> => ({
  json: { ...shape.json, description },
})

export const oneOf = <const Values extends readonly string[]>(...values: Values): Shape<Values[number]> => ({
  json: { type: "string", enum: values },
})

/** Text of at most so many characters. */
export const text = (maximum: number): Shape<string> => ({ json: { type: "string", maxLength: maximum } })

export const integer = (minimum: number, maximum: number): Shape<number> => ({
  json: { type: "integer", minimum, maximum },
})

export const listOf = <T>(item: Shape<T>, most?: number): Shape<readonly T[]> => ({
  json: { type: "array", items: item.json, ...(most === undefined ? {} : { maxItems: most }) },
})

export const anyOf = <Shapes extends readonly Shape<unknown>[]>(
  ...shapes: Shapes
): Shape<DocumentOf<Shapes[number]>> => ({ json: { anyOf: shapes.map((shape) => shape.json) } })

/** Keys nobody knows are refused: a misspelt option must not be ignored in silence. */
export const objectOf = <R extends Properties, O extends Properties = NoProperties>(
  required: R,
  optional?: O,
): Shape<ObjectOf<R, O>> => ({
  json: {
    type: "object",
    properties: Object.fromEntries(
      Object.entries({ ...required, ...optional }).map(([key, shape]) => [key, shape.json]),
    ),
    required: Object.keys(required),
    additionalProperties: false,
  },
})

/** Gives a shape a name of its own in the OpenAPI document. */
export const named = <T>(title: string, shape: Shape<T>): Shape<T> => ({ json: { title, ...shape.json } })
