/** Checks a value against a JSON Schema. */
import type { Json, JsonObject } from "@meridian/protocol"

/** Describes which fields do not fit, and how; undefined when all fit. */
export type ValueCheck = (value: Json) => Promise<string | undefined>

export type OpenValueCheck = (schema: JsonObject) => ValueCheck
