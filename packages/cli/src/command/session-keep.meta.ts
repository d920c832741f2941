/** `meridian session rename`, `archive`, `delete`: which engine sessions are kept, and under which name. */
import { BOOLEAN, STRING, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

import { DATABASE_FIELD, SESSION_FIELD } from "./session.meta.ts"

export const SESSION_RENAME = defineMeta({
  name: "session.rename",
  audience: "human",
  summary: "Give a session of the engine another title.",
  fields: {
    session: SESSION_FIELD,
    title: {
      type: "string",
      description: "The new title.",
      positional: true,
      required: true,
      value: "TITLE",
    },
    database: DATABASE_FIELD,
  },
  output: objectOf({ session_id: STRING, title: STRING }),
  examples: ['session rename ses_1a2b "Retries of the importer"'],
})

export const SESSION_ARCHIVE = defineMeta({
  name: "session.archive",
  audience: "human",
  summary: "Archive a session of the engine: lists leave it out, search still finds it.",
  details:
    "With --to the whole session moves into a SQLite file, which is created if it is missing, and takes no more room in the database. --undo --from brings it back from such a file.",
  fields: {
    session: SESSION_FIELD,
    undo: { type: "boolean", description: "Take it back out of the archive." },
    to: { type: "string", description: "File to move it into.", value: "FILE" },
    from: { type: "string", description: "With --undo: the file it was moved into.", value: "FILE" },
    database: DATABASE_FIELD,
  },
  output: objectOf({ session_id: STRING, archived: BOOLEAN }, { file: STRING }),
  examples: [
    "session archive ses_1a2b",
    "session archive ses_1a2b --undo",
    "session archive ses_1a2b --to 2026-11.sqlite",
    "session archive ses_1a2b --undo --from 2026-11.sqlite",
  ],
})

export const SESSION_DELETE = defineMeta({
  name: "session.delete",
  audience: "human",
  summary: "Delete a session of the engine for good, with its whole log.",
  details:
    "Asks first; --yes answers. Refused while a process works on the session. Its changes to files stay.",
  fields: { session: SESSION_FIELD, database: DATABASE_FIELD },
  output: objectOf({ session_id: STRING, deleted: BOOLEAN }),
  examples: ["session delete ses_1a2b"],
})
