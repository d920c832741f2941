/** Turns operations with a tool name into the answer of `tools/list`. */
import { jsonSchema, type JsonObject } from "@meridian/protocol"
import { inputSchema, type Registration } from "@meridian/spaces"
import type { Tool } from "@modelcontextprotocol/server"

export const toolRegistrations = (operations: readonly Registration[]): ReadonlyMap<string, Registration> =>
  new Map(
    operations.flatMap((operation) =>
      operation.meta.tool === undefined || operation.meta.audience !== "agent"
        ? []
        : [[operation.meta.tool, operation]],
    ),
  )

export const describeTool = (name: string, { meta }: Registration): Tool => ({
  name,
  description: meta.toolDetails === undefined ? meta.summary : `${meta.summary} ${meta.toolDetails}`,
  inputSchema: { ...inputSchema(meta.fields), type: "object" },
  outputSchema: { ...withWarning(jsonSchema(meta.output)), type: "object" },
  annotations: { readOnlyHint: !CHANGING.has(name), openWorldHint: CHANGING.has(name) && name !== "doctor" },
})

/** Tools that start or end an agent, or repair state. All others only look. */
const CHANGING: ReadonlySet<string> = new Set([
  "run_spawn",
  "run_continue",
  "run_resume",
  "run_cancel",
  "doctor",
])

const withWarning = (schema: JsonObject): JsonObject => ({
  ...schema,
  properties: {
    ...Object.fromEntries(Object.entries(schema["properties"] ?? {})),
    warning: { type: "string", description: "Coded warnings, one a line. Left out when there are none." },
  },
})
