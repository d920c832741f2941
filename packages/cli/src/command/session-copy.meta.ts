import { STRING, listOf, objectOf, oneOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

export const SESSION_COPY = defineMeta({
  name: "session.copy",
  audience: "human",
  summary: "Copy sessions of the engine into another database: a file, or a server.",
  details:
    "Event for event, with the full texts of long outputs. An existing copy is updated. A copy with its own later events is left alone, and so is a session at work. The others are copied anyway, and the exit code is 1. With --move a session is deleted at its source: use it to archive sessions into a file, and to bring them back.",
  fields: {
    sessions: {
      type: "strings",
      description: "Ids of sessions.",
      positional: "rest",
      value: "SESSION",
    },
    all: { type: "boolean", description: "Every session." },
    to: {
      type: "string",
      description: "The target database: a file, or a server as postgres://user@host/database.",
      value: "DATABASE",
    },
    from: {
      type: "string",
      description: "The source database; default is the one of this project, or MERIDIAN_DATABASE.",
      value: "DATABASE",
    },
    move: { type: "boolean", description: "Delete copied sessions at their source." },
  },
  output: objectOf({
    sessions: listOf(
      objectOf(
        { session_id: STRING, outcome: oneOf("copied", "there", "failed") },
        { error: objectOf({ code: STRING, message: STRING }) },
      ),
    ),
  }),
  examples: [
    "session copy --all --to postgres://meridian@db/meridian",
    "session copy ses_1a2b --from postgres://meridian@db/meridian --to old.sqlite --move",
  ],
})
