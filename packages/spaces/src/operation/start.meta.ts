import { BOOLEAN, INTEGER, STRING, listOf, objectOf } from "@meridian/protocol"

import { knownFlags } from "../harness/flags.ts"
import { CAP_FIELDS } from "./budget-fields.ts"
import { SANDBOX_FIELDS } from "./hands-fields.ts"
import { defineMeta } from "./operation.ts"
import { HARNESS_FIELD, PERMISSION_FIELD, TASK_FIELD } from "./run-schema.ts"

const FIELDS = {
  new: { type: "boolean", description: "Make a new space." },
  space: { type: "string", description: "Use this space.", aliases: ["space-id"], value: "SPACE" },
  name: { type: "string", description: "Name of the space.", value: "TEXT" },
  continue: {
    type: "string",
    description:
      "Continue a chat: its id, the harness's own session id, or by default the last chat; at a terminal, you choose among several. It also continues a session that was not a chat yet: an engine session by its id, others as claude:ID, codex:ID or opencode:ID.",
    optionalValue: true,
    value: "CHAT|SESSION",
  },
  fork: {
    type: "boolean",
    description:
      "With --continue: a new chat that starts from the history of the old one, which stays as it is.",
  },
  model: {
    type: "string",
    description: "Model id or alias; it decides the harness.",
    short: "m",
    value: "MODEL",
  },
  harness: HARNESS_FIELD,
  agent: { type: "string", description: "Agent profile.", short: "a", value: "NAME" },
  skills: {
    type: "strings",
    description: "Skills, added to those of the agent.",
    short: "s",
    split: true,
    value: "NAME",
  },
  prompt: { type: "string", description: "First message.", short: "p", value: "TEXT" },
  task: TASK_FIELD,
  permission: PERMISSION_FIELD,
  ...SANDBOX_FIELDS,
  ...CAP_FIELDS,
  cwd: {
    type: "string",
    description: "Where the harness starts; default is the project root.",
    value: "DIRECTORY",
  },
  dryRun: { type: "boolean", description: "Show what would be launched; nothing is written." },
  args: {
    type: "strings",
    description: "Words after -- go to the harness.",
    positional: "dashes",
    value: "ARGS",
  },
} as const

export const START = defineMeta({
  name: "start",
  audience: "human",
  summary: "Start or continue a conversation in a harness.",
  fields: FIELDS,
  passthrough: knownFlags(),
  output: objectOf(
    { harness: STRING, model: STRING },
    {
      space_id: STRING,
      chat_id: STRING,
      harness_session_id: STRING,
      exit_code: INTEGER,
      resume_command: STRING,
      cli_command: listOf(STRING),
      cwd: STRING,
      dry_run: BOOLEAN,
    },
  ),
  details:
    "Reuses the last active space, or makes one. The exit code is the harness's own. Flags of the harness may be given directly or after --; they are recorded, and --continue uses them again.",
  examples: [
    "start",
    "start --new --name feature-auth -m opus",
    "start --harness direct",
    "start --continue",
    "start --continue c2 -- --verbose",
    "start --continue claude:8956b66f-3c1e-4d2a-9b7f-0a1b2c3d4e5f",
  ],
})
