/** Checks values against JSON Schemas. The validator is loaded for the first value. */
import type { SchemaDraft, Validator } from "@cfworker/json-schema"
import type { Json, JsonObject } from "@meridian/protocol"

import type { OpenValueCheck } from "../port/value-check.ts"

export const openValueCheck: OpenValueCheck = (schema) => {
  let validator: Promise<Validator> | undefined
  return async (value) => {
    validator ??= loadValidator(schema)
    return findProblem(await validator, value)
  }
}

const loadValidator = async (schema: JsonObject): Promise<Validator> => {
  const { Validator } = await import("@cfworker/json-schema")
  // A copy, because the package writes notes into its schema.
  return new Validator(structuredClone(schema), draftOf(schema), false)
}

/** For MCP and for us the default is 2020-12. */
const draftOf = (schema: JsonObject): SchemaDraft => {
  const named = typeof schema["$schema"] === "string" ? schema["$schema"] : ""
  if (named.includes("2019-09")) return "2019-09"
  return /draft-0?7/.test(named) ? "7" : /draft-0?4/.test(named) ? "4" : "2020-12"
}

const MOST_PROBLEMS = 5

const findProblem = (validator: Validator, value: Json): string | undefined => {
  const { valid, errors } = validator.validate(value)
  if (valid) return undefined
  // The innermost problems say what to change. The outer ones only repeat that something inside is wrong.
  const places = errors.map(({ instanceLocation }) => instanceLocation)
  const deepest = errors.filter(
    ({ instanceLocation, keyword }) =>
      keyword !== "properties" || !places.some((place) => place.startsWith(`${instanceLocation}/`)),
  )
  const problems = deepest.slice(0, MOST_PROBLEMS).map(({ instanceLocation, error }) => {
    const field = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".")
    return field === "" ? error : `\`${field}\`: ${error}`
  })
  return problems.join(" ")
}
