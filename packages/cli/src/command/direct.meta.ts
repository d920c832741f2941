import { INTEGER, objectOf } from "@meridian/protocol"
import { defineMeta, PERMISSION_TIERS } from "@meridian/spaces"

/** Started by the harness `direct`. People use `meridian start --harness direct`. */
export const DIRECT = defineMeta({
  name: "direct",
  audience: "human",
  hidden: true,
  summary: "Run a session of the engine: a conversation on this terminal, or one prompt from stdin.",
  format: "text",
  fields: {
    headless: { type: "boolean", description: "One prompt from stdin, one JSON object per line on stdout." },
    session: { type: "string", description: "Id of the new session.", value: "SESSION" },
    continue: { type: "string", description: "Continue this session.", value: "SESSION" },
    fork: { type: "string", description: "Start from the history of this session.", value: "SESSION" },
    model: { type: "string", description: "Model of the engine.", short: "m", value: "MODEL" },
    effort: { type: "string", description: "Reasoning effort, if the model takes one.", value: "LEVEL" },
    permission: {
      type: "string",
      description: "What may be done without asking.",
      choices: PERMISSION_TIERS,
      value: "TIER",
    },
    sandbox: {
      type: "string",
      description: "Run commands in a sandbox, with or without the network.",
      choices: ["on", "off"],
      value: "on|off",
    },
    launch: { type: "string", description: "File with the rest of the launch.", value: "FILE" },
    args: {
      type: "strings",
      description: "Flags of the harness: --max-turns N.",
      positional: "dashes",
      value: "ARGS",
    },
  },
  output: objectOf({ exit_code: INTEGER }),
})
