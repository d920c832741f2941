/** Random values that fit a shape, and the same values with one fault, for properties of decoders. */
import * as fc from "fast-check"

import { nodeOf, schemaOf, type Schema } from "../packages/protocol/src/shape/schema.ts"
import type { Shape } from "../packages/protocol/src/shape/shape.ts"

export const arbitraryOf = <T>(shape: Shape<T>): fc.Arbitrary<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test that uses it checks that the values fit
  valuesOf(schemaOf(shape)) as fc.Arbitrary<T>

/** Replaces, removes or adds one part of the value. By chance it may still fit. */
export const damaged = (value: unknown): fc.Arbitrary<unknown> => {
  if (typeof value !== "object" || value === null) return fc.jsonValue()
  const keys = Object.keys(value)
  const parts = fc.constantFrom(...keys, "stranger")
  return parts.chain((key) => {
    const rest = Object.entries(value).filter(([name]) => name !== key)
    const rebuilt = (entries: readonly (readonly [string, unknown])[]): unknown =>
      Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)
    return fc.oneof(
      fc.constant(rebuilt(rest)),
      fc.jsonValue().map((other) => rebuilt([...rest, [key, other]])),
      damaged(Reflect.get(value, key)).map((inner) => rebuilt([...rest, [key, inner]])),
    )
  })
}

const valuesOf = (schema: Schema): fc.Arbitrary<unknown> => {
  const node = nodeOf(schema)
  switch (node.type) {
    case "pipe":
      return boundedValues(node.first, node.actions)
    case "strict_object": {
      const entries = Object.entries(node.entries)
      const required = entries.filter(([, entry]) => nodeOf(entry).type !== "optional").map(([name]) => name)
      return fc.record(Object.fromEntries(entries.map(([name, entry]) => [name, valuesOf(entry)])), {
        requiredKeys: required,
        noNullPrototype: true,
      })
    }
    case "optional":
      return valuesOf(node.wrapped)
    case "array":
      return fc.array(valuesOf(node.item), { maxLength: 3 })
    case "record":
      return fc.dictionary(fc.stringMatching(/^k[a-z]{1,3}$/), valuesOf(node.value), {
        maxKeys: 3,
        noNullPrototype: true,
      })
    case "variant":
    case "union":
      return fc.oneof(...node.options.map(valuesOf))
    case "picklist":
      return fc.constantFrom(...node.options)
    case "custom":
      return fc.oneof(fc.constant({}), fc.jsonValue()).filter((value) => node.check(value))
    case "string":
      return fc.string()
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case "boolean":
      return fc.boolean()
  }
}

type Actions = Extract<ReturnType<typeof nodeOf>, { readonly type: "pipe" }>["actions"]

const boundedValues = (first: Schema, actions: Actions): fc.Arbitrary<unknown> => {
  const bound = (type: string): unknown => {
    const action = actions.find((one) => one.type === type)
    return action !== undefined && "requirement" in action ? action.requirement : undefined
  }
  const pattern = bound("regex")
  if (pattern instanceof RegExp)
    return fc.constantFrom("msg_1", "c1", "s1", "r1").filter((id) => pattern.test(id))
  const least = Number(bound("min_value") ?? bound("min_length") ?? 0)
  const most = Number(bound("max_value") ?? bound("max_length") ?? 1_000)
  const node = nodeOf(first)
  if (node.type === "string") return fc.string({ minLength: least, maxLength: Math.min(most, 20) })
  if (node.type === "array") return fc.array(valuesOf(node.item), { maxLength: Math.min(most, 3) })
  if (node.type === "number")
    return fc.integer({ min: Math.max(least, Number(bound("gt_value") ?? -1) + 1), max: most })
  return valuesOf(first)
}
