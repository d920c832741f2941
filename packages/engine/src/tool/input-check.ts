/** Checks the input of a tool against its advertised JSON Schema. */
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
 * The same for a foreign schema. One that cannot be understood (a dangling reference, an invalid pattern) checks nothing,
 * and the tool's server decides.
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
