/**
 * The valibot schemas behind shapes, and the only view through which this folder inspects them. A schema's message holds
 * the words for what it expects.
 */
import * as v from "valibot"

import { isJsonObject } from "../json.ts"
import { nearest } from "../nearest.ts"

export type Schema = v.GenericSchema
type Action = v.GenericPipeItem
type Entries = Readonly<Record<string, Schema>>

/** The schema behind a shape. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every shape is made in shape.ts, of a schema
export const schemaOf = (shape: { readonly kind: "schema" }): Schema => shape as unknown as Schema

/** The part of a schema's internals that we use. */
export type Node =
  | { readonly type: "pipe"; readonly first: Schema; readonly actions: readonly Action[] }
  | { readonly type: "strict_object"; readonly entries: Entries }
  | { readonly type: "optional"; readonly wrapped: Schema }
  | { readonly type: "array"; readonly item: Schema }
  | { readonly type: "record"; readonly value: Schema }
  | { readonly type: "variant"; readonly key: string; readonly options: readonly Schema[] }
  | { readonly type: "union"; readonly options: readonly Schema[] }
  | { readonly type: "picklist"; readonly options: readonly string[] }
  | { readonly type: "custom"; readonly check: (value: unknown) => boolean }
  | { readonly type: "string" | "number" | "boolean" }

export const nodeOf = (schema: Schema): Node => {
  if ("pipe" in schema) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library's pipe begins with a schema
    const [first, ...actions] = schema.pipe as readonly [Schema, ...Action[]]
    return { type: "pipe", first, actions }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- shape.ts makes schemas of these types only
  return schema as unknown as Node
}

/** Objects have no words in their schema: see `objectWords`. */
export const wordsOf = (schema: Schema): string =>
  "message" in schema && typeof schema.message === "string" ? schema.message : "an object"

/** The library types only pipes of a fixed length. A schema without actions needs none. */
export const piped = (schema: Schema, actions: readonly Action[]): Schema => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  const pipe = v.pipe as unknown as (...items: readonly [Schema, ...Action[]]) => Schema
  return actions.length === 0 ? schema : pipe(schema, ...actions)
}

export const objectSchema = (entries: Entries, unknown: "refuse" | "strip" | "keep" = "refuse"): Schema => {
  const names = Object.keys(entries)
  return onlyObjects(OBJECTS[unknown](entries, (issue) => objectWords(issue, names)))
}

export const mapSchema = (item: Schema): Schema =>
  onlyObjects(v.record(v.string(), item, "an object"), hasPlainKeys)

export const variantSchema = (key: string, options: readonly Schema[]): Schema => {
  const tags = options.flatMap((option) => tagsOf(option, key))
  const words = (issue: v.BaseIssue<unknown>): string =>
    issue.path === undefined ? "an object" : `one of ${tags.join(", ")}`
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `tagsOf` has found the tag in each of them
  return v.variant(key, options as unknown as v.VariantOptions<string>, words)
}

/** The texts in the field `key` that identify an option of a variant. */
export const tagsOf = (schema: Schema, key: string): readonly string[] => {
  const node = nodeOf(schema)
  if (node.type === "pipe") return tagsOf(node.first, key)
  const tag = "entries" in node ? node.entries[key] : undefined
  const tags = tag === undefined ? undefined : nodeOf(tag)
  if (tags?.type !== "picklist") throw new TypeError(`an option has no tag \`${key}\``)
  return tags.options
}

/** The same schema, applied to the value that `prepare` returns. */
export const prepared = (schema: Schema, prepare: (value: unknown) => unknown): Schema => ({
  ...schema,
  "~run": (dataset, config) => schema["~run"]({ value: prepare(dataset.value) }, config),
})

/**
 * The library reports an unknown or missing key without the existing keys. So the message of such an issue is the name that
 * was probably meant: the known one for an unknown key, the unknown one for a missing key. Empty when none is near.
 */
const objectWords = (issue: v.BaseIssue<unknown>, names: readonly string[]): string => {
  const at = issue.path?.at(-1)
  if (at?.origin !== "key" || typeof at.key !== "string") return "an object"
  if (issue.expected === "never") return nearest(at.key, names) ?? ""
  const strangers = Object.keys(Object(at.input)).filter((name) => !names.includes(name))
  return nearest(at.key, strangers) ?? ""
}

type ObjectWords = (issue: v.BaseIssue<unknown>) => string

const OBJECTS = {
  refuse: (entries: Entries, words: ObjectWords): Schema => v.strictObject(entries, words),
  strip: (entries: Entries, words: ObjectWords): Schema => v.object(entries, words),
  keep: (entries: Entries, words: ObjectWords): Schema => v.looseObject(entries, words),
}

/** The library silently drops these keys from a map; we refuse them. */
const RESERVED = ["__proto__", "prototype", "constructor"]

export const hasPlainKeys = (value: object): boolean => RESERVED.every((key) => !Object.hasOwn(value, key))

/** The library accepts a list as an object; we do not. */
const onlyObjects = (schema: Schema, isFine: (value: object) => boolean = () => true): Schema => ({
  ...schema,
  "~run": (dataset, config) => {
    if (!isJsonObject(dataset.value)) return NO_OBJECT["~run"](dataset, config)
    return isFine(dataset.value) ? schema["~run"](dataset, config) : RESERVED_KEY["~run"](dataset, config)
  },
})

const NO_OBJECT: Schema = v.never("an object")
const RESERVED_KEY: Schema = v.never(`an object without the keys ${RESERVED.join(", ")}`)
