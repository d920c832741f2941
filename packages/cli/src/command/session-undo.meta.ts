/** `meridian session undo`, `redo`, `files`, `fork`: shows the effects of prompts, and takes them back. */
import { BOOLEAN, INTEGER, STRING, listOf, objectOf, oneOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

import { DATABASE_FIELD, SESSION_FIELD } from "./session.meta.ts"

const CHANGED = objectOf({ path: STRING, change: oneOf("added", "changed", "removed") })
const PROMPTS = listOf(objectOf({ message_id: STRING, text: STRING }))
const UNDONE = objectOf({
  session_id: STRING,
  prompts: PROMPTS,
  conversation: BOOLEAN,
  files: listOf(CHANGED),
  left: listOf(STRING),
  missed: listOf(STRING),
})

const AT_FIELD = {
  type: "string",
  description: "The number of a prompt, from 1, or the id of its message.",
  value: "PROMPT",
} as const

export const SESSION_UNDO = defineMeta({
  name: "session.undo",
  audience: "human",
  summary:
    "Take back what the last prompts led to: their part of the conversation and their changes to files.",
  details:
    "Files that were changed since are never overwritten without a question: they are listed, and nothing is touched; --yes overwrites them. Changes by commands are included, because the files are compared before and after. Nothing leaves the log, and 'session redo' brings everything back until the next prompt.",
  fields: {
    session: SESSION_FIELD,
    count: {
      type: "integer",
      description: "How many prompts (1).",
      positional: true,
      value: "N",
    },
    files: { type: "boolean", description: "Only files; the conversation stays." },
    conversation: { type: "boolean", description: "Only the conversation; files stay." },
    database: DATABASE_FIELD,
  },
  output: UNDONE,
  examples: ["session undo ses_1a2b", "session undo ses_1a2b 2 --files"],
})

export const SESSION_REDO = defineMeta({
  name: "session.redo",
  audience: "human",
  summary: "Reverse the last undo of a session, until the next prompt.",
  details: "Files that were changed since are listed, and nothing is touched; --yes overwrites them.",
  fields: { session: SESSION_FIELD, database: DATABASE_FIELD },
  output: UNDONE,
  examples: ["session redo ses_1a2b"],
})

export const SESSION_FILES = defineMeta({
  name: "session.files",
  audience: "human",
  summary: "Show the file changes of one prompt: the last one, unless --at names another.",
  fields: {
    session: SESSION_FIELD,
    at: AT_FIELD,
    diff: { type: "boolean", description: "The difference itself." },
    stat: { type: "boolean", description: "Lines added and removed by file." },
    database: DATABASE_FIELD,
  },
  output: objectOf(
    {
      session_id: STRING,
      prompt: objectOf({ number: INTEGER, message_id: STRING, text: STRING }),
      files: listOf(CHANGED),
      missed: listOf(STRING),
      skipped: listOf(STRING),
    },
    { diff: STRING },
  ),
  examples: ["session files ses_1a2b", "session files ses_1a2b --at 2 --diff"],
})

export const SESSION_FORK = defineMeta({
  name: "session.fork",
  audience: "human",
  summary: "Make a second session with the past of another, up to and including one of its prompts.",
  details:
    "Without --at it has everything that is settled. A message id ends it with that message. --files restores the files to their state at that point; that is an undo of the source's files, with its question.",
  fields: {
    session: SESSION_FIELD,
    at: AT_FIELD,
    files: { type: "boolean", description: "Restore the files too." },
    id: { type: "string", description: "Id of the new session.", value: "ID" },
    database: DATABASE_FIELD,
  },
  output: objectOf({ session_id: STRING, from: STRING }),
  examples: ["session fork ses_1a2b --at 2", "session fork ses_1a2b --at 2 --files"],
})
