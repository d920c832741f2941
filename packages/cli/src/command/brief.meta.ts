import { INTEGER, STRING, listOf, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

export const BRIEF = defineMeta({
  name: "brief",
  audience: "human",
  summary: "Print what must survive a compaction in this project.",
  details:
    "The brief is worked out from SESSION.md, AGENTS.md, the files of a running workflow and the rules of the project. With --host it is wrapped as that harness's hook expects it; 'meridian init' sets the hooks up.",
  fields: {
    host: {
      type: "string",
      description: "Who reads it.",
      choices: ["text", "opencode", "claude", "codex"],
      default: "text",
      value: "HOST",
    },
    maxTokens: {
      type: "integer",
      description: "Most tokens the brief may take.",
      value: "N",
    },
    injected: {
      type: "boolean",
      description: "Show what hooks and plugin last put into requests of this project, in every harness.",
    },
  },
  format: "text",
  output: objectOf(
    { output: STRING },
    {
      host: STRING,
      root: STRING,
      mode: STRING,
      artifact: STRING,
      tokens: INTEGER,
      warnings: listOf(STRING),
      folder: STRING,
      entries: listOf(
        objectOf(
          { at: STRING, host: STRING, session: STRING, directory: STRING, request: STRING, tokens: INTEGER },
          {
            texts: listOf(STRING),
            ms: INTEGER,
            invented: listOf(STRING),
            kept: listOf(STRING),
            put_back: listOf(STRING),
            lost: listOf(STRING),
            warnings: listOf(STRING),
          },
        ),
      ),
    },
  ),
})
