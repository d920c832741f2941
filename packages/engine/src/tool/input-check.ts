/** The input of a tool against the JSON Schema it was advertised with. */
import type { Json, JsonObject } from "@meridian/protocol"

import { ToolError } from "../port/tool.ts"
import { openValueCheck } from "./check-value.ts"

/** Rejects with a ToolError that names the fields. */
export type InputCheck = (input: Json) => Promise<void>

export const openInputCheck = (schema: JsonObject): InputCheck => {
  const check = openValueCheck(schema)
  return async (input) => {
    const problem = await check(input)
    if (problem !== undefined)
      throw new ToolError("invalid-input", `The input does not fit the tool: ${problem}`)
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
