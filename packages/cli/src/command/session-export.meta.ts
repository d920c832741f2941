import { INTEGER, STRING, listOf, mapOf, objectOf, oneOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

import { EXPORT_FORMATS } from "../export/formats.ts"
import { KEEPERS } from "../sessions/harness-places.ts"
import { DATABASE_FIELD } from "./session.meta.ts"

export const SESSION_EXPORT = defineMeta({
  name: "session.export",
  audience: "human",
  summary: "Write a session of any harness as one file to read or to share, without its secrets.",
  details:
    "A session is named by its id in the engine, or as claude:ID, codex:ID, opencode:ID, pi:ID, as 'meridian search' names them. The file is self-contained: no script, no address, pictures inside. Text that looks like a credential is replaced by [hidden: KIND] and counted; look at the result before you share it, because no list of credentials is complete. It goes to stdout unless --output names a file, which must not exist yet.",
  fields: {
    session: {
      type: "string",
      description: "Which session.",
      positional: true,
      required: true,
      value: "[HARNESS:]SESSION",
    },
    format: {
      type: "string",
      description: "Format of the file.",
      choices: EXPORT_FORMATS,
      default: "md",
      value: "FORMAT",
    },
    output: { type: "string", description: "File to write.", short: "o", value: "FILE" },
    database: DATABASE_FIELD,
  },
  format: "text",
  output: objectOf(
    {
      session: STRING,
      harness: oneOf(...KEEPERS),
      format: oneOf(...EXPORT_FORMATS),
      hidden: INTEGER,
      hidden_kinds: mapOf(INTEGER),
      lost: listOf(STRING),
    },
    { file: STRING, content: STRING },
  ),
  examples: [
    "session export ses_1a2b > session.md",
    "session export claude:8956b66f-3c1e-4d2a-9b7f-0a1b2c3d4e5f --format html -o session.html",
  ],
})
