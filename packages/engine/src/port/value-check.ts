/** A value against a JSON Schema. */
import type { Json, JsonObject } from "@meridian/protocol"

/** Says which fields do not fit, and how; undefined when all do. */
export type ValueCheck = (value: Json) => Promise<string | undefined>

export type OpenValueCheck = (schema: JsonObject) => ValueCheck
