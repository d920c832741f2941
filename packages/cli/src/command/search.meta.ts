import { INTEGER, STRING, listOf, objectOf, oneOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

import { KEEPERS } from "../sessions/harness-places.ts"
import { DATABASE_FIELD } from "./session.meta.ts"

export const SEARCH = defineMeta({
  name: "search",
  audience: "human",
  summary: "Find words in every session on this machine, in any harness.",
  details:
    'Looks through the engine, Claude Code, Codex, OpenCode and pi; sessions of this project, or with --all those of every project; also those on a server that --database or MERIDIAN_DATABASE names. A session has to have all the words close to each other; those that have them in a row come first, and "words in quotation marks" must stand in a row. A star at the end of a word stands for any rest. The index lies in $XDG_CACHE_HOME/meridian (~/.cache without it) and is brought up to date by every search; the sessions themselves are only read.',
  fields: {
    words: {
      type: "strings",
      description: "What to look for.",
      positional: "rest",
      required: true,
      value: "WORDS",
    },
    all: { type: "boolean", description: "Every project, not only this one." },
    harness: {
      type: "string",
      description: "Sessions of this harness only.",
      choices: KEEPERS,
      value: "HARNESS",
    },
    database: {
      ...DATABASE_FIELD,
      description: "A further database of the engine to search: a file or a server.",
    },
    limit: {
      type: "integer",
      description: "Most sessions to show.",
      minimum: 1,
      default: 10,
      short: "n",
      value: "N",
    },
  },
  output: objectOf({
    results: listOf(
      objectOf(
        { harness: oneOf(...KEEPERS), id: STRING, time: STRING, snippet: STRING, continue: STRING },
        { title: STRING, place: STRING },
      ),
    ),
    searched: INTEGER,
  }),
  examples: [
    'search "retry budget"',
    "search --all migration rollback",
    "search deadlock --harness codex -n 3",
  ],
})
