/** `meridian session ...`: reads the engine's sessions, in the state folder or in a named database. */
import { BOOLEAN, INTEGER, STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

export const DATABASE_FIELD = {
  type: "string",
  description: "Database of the engine instead of the one in the state folder.",
  value: "FILE",
} as const

export const SESSION_FIELD = {
  type: "string",
  description: "Id of the session.",
  positional: true,
  required: true,
  value: "SESSION",
} as const

export const SESSION_LIST = defineMeta({
  name: "session.list",
  audience: "human",
  summary: "List the sessions of the engine.",
  fields: {
    all: { type: "boolean", description: "Include archived sessions." },
    database: DATABASE_FIELD,
  },
  output: objectOf({
    sessions: listOf(
      objectOf(
        { session_id: STRING, status: STRING, directory: STRING, events: INTEGER },
        { title: STRING, archived: BOOLEAN },
      ),
    ),
  }),
  examples: ["session list"],
})

export const SESSION_COMPACTIONS = defineMeta({
  name: "session.compactions",
  audience: "human",
  summary: "Show what each compaction of a session kept and dropped.",
  details:
    "Tokens before and after, messages summarised, facts of the brief with their sources, and invented quotes that were removed. The active one is marked; 'session restore' goes back to another. For a conversation in Claude Code, Codex or OpenCode, named by its own session id or as a chat (c3): what the summary kept, what was put back into the next request, what was lost, and requests the summary invented.",
  fields: { session: SESSION_FIELD, database: DATABASE_FIELD },
  output: objectOf({
    compactions: listOf(
      objectOf(
        { compaction_id: STRING, status: STRING, reason: STRING, in_force: BOOLEAN, seq: INTEGER },
        {
          method: STRING,
          tokens_before: INTEGER,
          tokens_after: INTEGER,
          messages: INTEGER,
          from_seq: INTEGER,
          through_seq: INTEGER,
          summary: STRING,
          fallback: STRING,
          error: STRING,
          removed_quotes: listOf(STRING),
          harness: STRING,
          at: STRING,
          kept: listOf(STRING),
          put_back: listOf(STRING),
          lost: listOf(STRING),
          invented: listOf(STRING),
          contradicted: BOOLEAN,
          injected_tokens: INTEGER,
          facts: listOf(objectOf({ kind: STRING, text: STRING, source: STRING })),
        },
      ),
    ),
  }),
  examples: ["session compactions ses_1a2b"],
})

export const SESSION_RESTORE = defineMeta({
  name: "session.restore",
  audience: "human",
  summary: "Go back to an older checkpoint of a session, or to its whole history.",
  fields: {
    session: SESSION_FIELD,
    to: {
      type: "string",
      description: "Compaction to go back to; without it, before all of them.",
      value: "COMPACTION",
    },
    database: DATABASE_FIELD,
  },
  output: objectOf({ session_id: STRING }, { compaction_id: STRING }),
  examples: ["session restore ses_1a2b --to cmp_3c4d"],
})

export const SESSION_IMPORT = defineMeta({
  name: "session.import",
  audience: "human",
  summary: "Import a conversation from Claude Code, Codex, OpenCode or pi.",
  details:
    "Takes the JSONL of Claude Code, a Codex rollout, the JSON of 'opencode export' or a session of pi; the content decides the format. Prompts, answers, tool calls and compactions become ordinary events, so the session can be searched, compacted, forked and continued with any model. Losses are listed. The same file gives the same session again; a file that has grown since is refused unless --session names a new one.",
  fields: {
    file: {
      type: "string",
      description:
        "File to import, or a session by its name in search: claude:ID, codex:ID, pi:ID; - reads stdin.",
      positional: true,
      required: true,
      value: "FILE",
    },
    session: { type: "string", description: "Id of the new session.", value: "SESSION" },
    directory: {
      type: "string",
      description: "Where the session works; default is this project, regardless of the file.",
      value: "DIRECTORY",
    },
    database: DATABASE_FIELD,
  },
  output: objectOf(
    {
      session_id: STRING,
      imported: BOOLEAN,
      format: STRING,
      source_id: STRING,
      directory: STRING,
      events: INTEGER,
      prompts: INTEGER,
      turns: INTEGER,
      tools: INTEGER,
      compactions: INTEGER,
      losses: listOf(objectOf({ kind: STRING, count: INTEGER, text: STRING })),
    },
    { title: STRING, continue_command: STRING },
  ),
  examples: [
    "session import ~/.claude/projects/-home-me-app/8956b66f.jsonl",
    "session import export.json --json",
  ],
})
