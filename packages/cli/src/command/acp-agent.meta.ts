import { INTEGER, objectOf } from "@meridian/protocol"
import { defineMeta, PERMISSION_TIERS } from "@meridian/spaces"

/** Started by the harness `acp:NAME`. People use `meridian start --harness acp:NAME`. */
export const ACP_AGENT = defineMeta({
  name: "acp-agent",
  audience: "human",
  hidden: true,
  summary:
    "Talk to an agent of your configuration: a conversation on this terminal, or one prompt from stdin.",
  format: "text",
  fields: {
    name: { type: "string", description: "Its name in [harness.acp.NAME].", positional: true, value: "NAME" },
    headless: { type: "boolean", description: "One prompt from stdin, one JSON object per line on stdout." },
    continue: { type: "string", description: "Continue this session of the agent.", value: "SESSION" },
    model: { type: "string", description: "Model, in the agent's own words.", short: "m", value: "MODEL" },
    permission: {
      type: "string",
      description: "What may be done without asking.",
      choices: PERMISSION_TIERS,
      value: "TIER",
    },
    launch: { type: "string", description: "File with the first message.", value: "FILE" },
    args: {
      type: "strings",
      description: "Further words of the agent's command.",
      positional: "dashes",
      value: "ARGS",
    },
  },
  output: objectOf({ exit_code: INTEGER }),
})
