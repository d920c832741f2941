/** `meridian database ...` and `meridian cluster`: for administrators of a server that nodes share. */
import { BOOLEAN, COUNT, listOf, objectOf, oneOf, STRING } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

const database = {
  type: "string",
  description: "The server, as postgres://user@host/database; default is MERIDIAN_DATABASE.",
  value: "ADDRESS",
} as const

export const DATABASE_CHECK = defineMeta({
  name: "database.check",
  audience: "human",
  summary: "Check whether a database server is fit for sessions, and what to change.",
  details:
    "Checks its version, encryption, round trip, durability, standbys, poolers, hints and limits. Changes nothing. Fails if something would lose work.",
  fields: { database },
  output: objectOf({
    fit: BOOLEAN,
    findings: listOf(
      objectOf({ name: STRING, verdict: oneOf("good", "warning", "bad"), found: STRING }, { next: STRING }),
    ),
  }),
  examples: ["database check --database postgres://meridian@db/meridian"],
})

export const DATABASE_MIGRATE = defineMeta({
  name: "database.migrate",
  audience: "human",
  summary: "Create or update Meridian's schema on a database server.",
  details: "Only adds: nodes of the previous version keep working.",
  fields: { database },
  output: objectOf({ database: STRING }),
  examples: ["database migrate --database postgres://meridian@db/meridian"],
})

export const CLUSTER = defineMeta({
  name: "cluster",
  audience: "human",
  summary: "Show the nodes of a database server, what they work on, and what waits.",
  fields: { database },
  output: objectOf({
    nodes: listOf(
      objectOf(
        {
          node_id: STRING,
          host: STRING,
          alive: BOOLEAN,
          beat: COUNT,
          leaves: BOOLEAN,
          places: COUNT,
          working: COUNT,
          workspaces: listOf(STRING),
          format: COUNT,
        },
        { address: STRING },
      ),
    ),
    sessions: COUNT,
    working: COUNT,
    waiting: listOf(objectOf({ session_id: STRING, workspace: STRING }, { reason: STRING })),
  }),
  examples: ["cluster --database postgres://meridian@db/meridian"],
})
