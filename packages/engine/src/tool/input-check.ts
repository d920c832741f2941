/** The input of a tool against the JSON Schema it was advertised with. */
import type { SchemaDraft, Validator } from "@cfworker/json-schema"
import type { Json, JsonObject } from "@meridian/protocol"

import { ToolError } from "../port/tool.ts"

/** Rejects with a ToolError that names the fields. The validator is loaded and made with the first call. */
export type InputCheck = (input: Json) => Promise<void>

export const openInputCheck = (schema: JsonObject): InputCheck => {
  let validator: Promise<Validator> | undefined
  return async (input) => {
    validator ??= loadValidator(schema)
    checkInput(await validator, input)
  }
}

/**
 * The same for a schema that a stranger wrote: one that cannot be understood (a reference into nowhere, a pattern that is
 * none) checks nothing, and the server of the tool decides.
 */
export const openForeignInputCheck = (schema: JsonObject): InputCheck => {
  const check = openInputCheck(schema)
  return async (input) => {
    try {
      await check(input)
    } catch (error) {
      if (error instanceof ToolError) throw error
    }
  }
}

const loadValidator = async (schema: JsonObject): Promise<Validator> => {
  const { Validator } = await import("@cfworker/json-schema")
  // A copy: the package leaves notes in the schema it is given.
  return new Validator(structuredClone(schema), draftOf(schema), false)
}

/** MCP and we mean 2020-12 where a schema does not say otherwise. */
const draftOf = (schema: JsonObject): SchemaDraft => {
  const named = typeof schema["$schema"] === "string" ? schema["$schema"] : ""
  if (named.includes("2019-09")) return "2019-09"
  return /draft-0?7/.test(named) ? "7" : /draft-0?4/.test(named) ? "4" : "2020-12"
}

const MOST_PROBLEMS = 5

const checkInput = (validator: Validator, input: Json): void => {
  const { valid, errors } = validator.validate(input)
  if (valid) return
  // The innermost problems say what to change; the outer ones only repeat that something inside is wrong.
  const places = errors.map(({ instanceLocation }) => instanceLocation)
  const deepest = errors.filter(
    ({ instanceLocation, keyword }) =>
      keyword !== "properties" || !places.some((place) => place.startsWith(`${instanceLocation}/`)),
  )
  const problems = deepest.slice(0, MOST_PROBLEMS).map(({ instanceLocation, error }) => {
    const field = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".")
    return field === "" ? error : `\`${field}\`: ${error}`
  })
  throw new ToolError("invalid-input", `The input does not fit the tool: ${problems.join(" ")}`)
}
