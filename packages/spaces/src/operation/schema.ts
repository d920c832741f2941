/**
 * Output documents: one description that is the JSON schema of MCP and the reference page, and the TypeScript type that
 * `run` must return. Keys are snake_case, absent values are left out.
 */
import type { Json, JsonObject } from "@meridian/protocol"

/** `document` is never set: it carries the type. */
export interface Schema<out T extends Json> {
  readonly json: JsonObject
  readonly document?: T
}

export type DocumentOf<S> = S extends Schema<infer T> ? T : never

type Properties = Readonly<Record<string, Schema<Json>>>

type NoProperties = { readonly [Key in never]: Schema<Json> }

type ObjectOf<R extends Properties, O extends Properties> = {
  readonly [Key in keyof R]: DocumentOf<R[Key]>
} & { readonly [Key in keyof O]?: DocumentOf<O[Key]> }

export const STRING: Schema<string> = { json: { type: "string" } }
export const INTEGER: Schema<number> = { json: { type: "integer" } }
export const NUMBER: Schema<number> = { json: { type: "number" } }
export const BOOLEAN: Schema<boolean> = { json: { type: "boolean" } }
/** Any value at all. */
export const ANY: Schema<Json> = { json: {} }

export const described = <T extends Json>(schema: Schema<T>, description: string): Schema<T> => ({
  json: { ...schema.json, description },
})

export const oneOf = <const T extends readonly string[]>(...values: T): Schema<T[number]> => ({
  json: { type: "string", enum: values },
})

export const listOf = <T extends Json>(item: Schema<T>): Schema<readonly T[]> => ({
  json: { type: "array", items: item.json },
})

/** Keys are data: model names, variables. */
export const mapOf = <T extends Json>(value: Schema<T>): Schema<Readonly<Record<string, T>>> => ({
  json: { type: "object", additionalProperties: value.json },
})

export const objectOf = <R extends Properties, O extends Properties = NoProperties>(
  required: R,
  optional?: O,
): Schema<ObjectOf<R, O> & JsonObject> => ({
  json: {
    type: "object",
    properties: Object.fromEntries(
      Object.entries({ ...required, ...optional }).map(([key, schema]) => [key, schema.json]),
    ),
    required: Object.keys(required),
    additionalProperties: false,
  },
})
