/**
 * Turns outside data into a value of the shape's type, or into one problem that says where and what. The library finds the
 * problem. The words are ours, and the same on every edge.
 */
import * as v from "valibot"

import { Failure } from "../failure.ts"
import { accepts } from "./accepts.ts"
import { findProblem } from "./find-problem.ts"
import { problemText, type Problem } from "./problem.ts"
import { readBy } from "./read-by.ts"
import type { Reading } from "./reading.ts"
import { schemaOf } from "./schema.ts"
import type { Shape } from "./shape.ts"

export type Decoded<T> =
  | { readonly tag: "value"; readonly value: T }
  | { readonly tag: "problem"; readonly problem: Problem }

/** Made once per edge. A value that needs no change is passed on without a copy. */
export const decoder = <T>(shape: Shape<T>, reading: Reading = {}): ((value: unknown) => Decoded<T>) => {
  const schema = readBy(schemaOf(shape), reading)
  const isRight = makeTest(shape, reading)
  return (value) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test looked at every part of it
    if (isRight?.(value) === true) return { tag: "value", value: value as T }
    const result = v.safeParse(schema, value, { abortEarly: true })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of the shape let it through
    if (result.success) return { tag: "value", value: result.output as T }
    return { tag: "problem", problem: findProblem(result.issues[0]) }
  }
}

/** Tests as fast as possible whether a value has the form. Unknown keys are refused unless the reading keeps them. */
export const tester = <T>(
  shape: Shape<T>,
  unknown: "refuse" | "keep" = "refuse",
): ((value: unknown) => value is T) => {
  const test = accepts(schemaOf(shape), unknown)
  return (value): value is T => test(value)
}

/** Returns the value, or throws INVALID_INPUT. `what` begins the sentence when no field does: "The body". */
export const reader = <T>(
  shape: Shape<T>,
  options: Reading & { readonly what: string; readonly fail?: (sentence: string) => Failure },
): ((value: unknown) => T) => {
  const decode = decoder(shape, options)
  const { what, fail = invalidInput } = options
  return (value) => {
    const decoded = decode(value)
    if (decoded.tag === "value") return decoded.value
    throw fail(problemText(decoded.problem, what))
  }
}

const invalidInput = (what: string): Failure => new Failure("INVALID_INPUT", { what })

/** Undefined when the value must be changed while reading. */
const makeTest = (shape: Shape<unknown>, reading: Reading) => {
  const { unknown = "refuse", names = "same", loose = false } = reading
  return unknown === "strip" || names !== "same" || loose ? undefined : accepts(schemaOf(shape), unknown)
}
