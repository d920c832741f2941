/** `meridian permissions ...`: what people allowed for good in sessions of the engine. */
import { STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

const database = {
  type: "string",
  description: "Database of the engine instead of the one in the state folder.",
  value: "FILE",
} as const

export const PERMISSIONS_LIST = defineMeta({
  name: "permissions.list",
  audience: "human",
  summary: "List permanent approvals ('always') in sessions of the engine.",
  fields: { database },
  output: objectOf({
    permissions: listOf(
      objectOf({
        permission_id: STRING,
        action: STRING,
        resource: STRING,
        directory: STRING,
        session_id: STRING,
        at: STRING,
      }),
    ),
  }),
  examples: ["permissions list"],
})

export const PERMISSIONS_REVOKE = defineMeta({
  name: "permissions.revoke",
  audience: "human",
  summary: "Revoke permanent approvals; from then on the questions come again.",
  details:
    "Takes the ids that 'meridian permissions list' shows. It takes effect at once, even in open sessions.",
  fields: {
    permissions: {
      type: "strings",
      description: "Ids of saved approvals.",
      positional: "rest",
      value: "PERMISSION",
    },
    all: { type: "boolean", description: "All saved approvals." },
    database,
  },
  output: objectOf({ revoked: listOf(STRING) }),
  examples: ["permissions revoke apr_0123456789abcdef", "permissions revoke --all"],
})
