/**
 * A schema as one function that answers yes or no. The library copies every value it checks, which takes longer than
 * parsing the value's JSON. This copies nothing and takes a tenth of that (docs/decisions/0070). It says yes exactly when
 * the library does: accepts.test.ts compares the two, and a reader that gets a no asks the library for the reason.
 */
import type { GenericPipeItem } from "valibot"

import { isJsonObject } from "../json.ts"
import { hasPlainKeys, nodeOf, tagsOf, type Schema } from "./schema.ts"

export type Test = (value: unknown) => boolean

export const accepts = (schema: Schema, unknown: "refuse" | "keep"): Test => {
  const inner = (child: Schema): Test => accepts(child, unknown)
  const node = nodeOf(schema)
  switch (node.type) {
    case "pipe":
      return node.actions.flatMap(actionTest).reduce(both, inner(node.first))
    case "strict_object":
      return objectTest(node.entries, unknown)
    case "record":
      return mapTest(inner(node.value))
    case "optional": {
      const test = inner(node.wrapped)
      return (value) => value === undefined || test(value)
    }
    case "array": {
      const test = inner(node.item)
      return (value) => Array.isArray(value) && value.every((item) => test(item))
    }
    case "variant":
      return variantTest(node.key, node.options, unknown)
    case "union": {
      const tests = node.options.map(inner)
      return (value) => tests.some((test) => test(value))
    }
    case "picklist":
      return (value) => typeof value === "string" && node.options.includes(value)
    case "custom":
      return node.check
    case "string":
      return (value) => typeof value === "string"
    case "number":
      return (value) => typeof value === "number" && !Number.isNaN(value)
    case "boolean":
      return (value) => typeof value === "boolean"
  }
}

/** Loops over the present keys, because a value has few of the possible ones. */
const objectTest = (entries: Readonly<Record<string, Schema>>, unknown: "refuse" | "keep"): Test => {
  const fields = new Map(
    Object.entries(entries).map(([name, entry]) => [
      name,
      { test: accepts(entry, unknown), isRequired: nodeOf(entry).type !== "optional" },
    ]),
  )
  const required = [...fields.values()].filter(({ isRequired }) => isRequired).length
  return (value) => {
    if (!isJsonObject(value)) return false
    let found = 0
    for (const name in value) {
      const field = fields.get(name)
      if (field === undefined) {
        if (unknown === "refuse") return false
      } else {
        if (!field.test(value[name])) return false
        if (field.isRequired) found += 1
      }
    }
    return found === required
  }
}

const mapTest =
  (test: Test): Test =>
  (value) => {
    if (!isJsonObject(value) || !hasPlainKeys(value)) return false
    for (const key in value) if (!test(value[key])) return false
    return true
  }

/** The tag selects the option. */
const variantTest = (key: string, options: readonly Schema[], unknown: "refuse" | "keep"): Test => {
  const byTag = new Map(
    options.flatMap((option) => {
      const test = accepts(option, unknown)
      return tagsOf(option, key).map((tag) => [tag, test] as const)
    }),
  )
  return (value) => {
    const tag = isJsonObject(value) ? value[key] : undefined
    return typeof tag === "string" && byTag.get(tag)?.(value) === true
  }
}

/** The test of one action of a pipe. Descriptions and titles test nothing. */
const actionTest = (action: GenericPipeItem): readonly Test[] => {
  if (action.kind === "metadata") return []
  const requirement = "requirement" in action ? action.requirement : undefined
  if (typeof requirement === "number") return [boundTest(action.type, requirement)]
  if (requirement instanceof RegExp) return [(value) => typeof value === "string" && requirement.test(value)]
  if (action.type === "integer") return [Number.isInteger]
  if (action.type === "finite") return [Number.isFinite]
  throw new TypeError(`no test for ${action.type}`)
}

const boundTest = (type: string, bound: number): Test => {
  switch (type) {
    case "min_value":
      return (value) => Number(value) >= bound
    case "max_value":
      return (value) => Number(value) <= bound
    case "gt_value":
      return (value) => Number(value) > bound
    case "min_length":
      return (value) => lengthOf(value) >= bound
    case "max_length":
      return (value) => lengthOf(value) <= bound
    default:
      throw new TypeError(`no test for ${type}`)
  }
}

const lengthOf = (value: unknown): number =>
  typeof value === "string" || Array.isArray(value) ? value.length : 0

const both =
  (first: Test, second: Test): Test =>
  (value) =>
    first(value) && second(value)
