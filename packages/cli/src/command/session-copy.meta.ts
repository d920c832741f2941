import { STRING, listOf, objectOf, oneOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

export const SESSION_COPY = defineMeta({
  name: "session.copy",
  audience: "human",
  summary: "Copy sessions of the engine into another database: a file, or a server.",
  details:
    "Event for event, with the full texts of long outputs. A copy that is there already is brought up to date; one that went on by itself is left alone, and so is a session that somebody works on. The others are copied all the same, and the exit code is 1. With --move a session is deleted where it came from: that is how it is put away into a file, and taken out again.",
  fields: {
    sessions: {
      type: "strings",
      description: "Ids of sessions.",
      positional: "rest",
      value: "SESSION",
    },
    all: { type: "boolean", description: "Every session there is." },
    to: {
      type: "string",
      description: "The database they go to: a file, or a server as postgres://user@host/database.",
      value: "DATABASE",
    },
    from: {
      type: "string",
      description: "The database they come from; default is the one of this project, or MERIDIAN_DATABASE.",
      value: "DATABASE",
    },
    move: { type: "boolean", description: "Delete what was copied where it came from." },
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
