/** `meridian recall` and `meridian expand`: what was said before, in every harness of the project. */
import { BOOLEAN, INTEGER, STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

export const RECALL = defineMeta({
  name: "recall",
  audience: "agent",
  summary: "Search earlier words and work, in every harness of this project.",
  details:
    "Searches transcripts of Claude Code and Codex, sessions of OpenCode and of the engine, newest first: prompts, answers, tool calls, their results and summaries. Each hit has its harness, its time, and a place for 'meridian expand'. Secrets are hidden. Nothing is written.",
  toolDetails:
    "After a compaction you have more than the summary: ask here for exact words, values and outputs. Then expand a place.",
  fields: {
    query: {
      type: "string",
      description: "Words to look for.",
      positional: true,
      required: true,
      value: "WORDS",
    },
    session: {
      type: "string",
      description: "Only this conversation: the harness's own session id, or a chat (c3).",
      value: "SESSION",
    },
    limit: { type: "integer", description: "Most hits (default 10, at most 50).", value: "N" },
  },
  output: objectOf(
    {
      hits: listOf(
        objectOf(
          { place: STRING, harness: STRING, session: STRING, role: STRING, text: STRING },
          { at: STRING },
        ),
      ),
      conversations: INTEGER,
    },
    { incomplete: BOOLEAN },
  ),
  tool: "recall",
  examples: ["recall 'billing tables'", "recall port 9090 --limit 5 --json"],
})

export const EXPAND = defineMeta({
  name: "expand",
  audience: "agent",
  summary: "Read a stretch of an earlier conversation, by a place that recall gave.",
  toolDetails: "A single number is shown with its surroundings; a range (#120-140) as it is.",
  fields: {
    range: {
      type: "string",
      description: "A place of recall, or a range of it: claude:8956b66f#120-140.",
      positional: true,
      required: true,
      value: "PLACE",
    },
  },
  output: objectOf(
    {
      place: STRING,
      harness: STRING,
      session: STRING,
      entries: listOf(objectOf({ number: INTEGER, role: STRING, text: STRING }, { at: STRING })),
    },
    { cut: BOOLEAN },
  ),
  tool: "expand",
  examples: ["expand claude:8956b66f-1c2d-4e5f-8a9b-0c1d2e3f4a5b#120-140"],
})
