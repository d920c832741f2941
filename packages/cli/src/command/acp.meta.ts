import { objectOf } from "@meridian/protocol"
import { defineMeta, PERMISSION_TIERS } from "@meridian/spaces"

export const ACP = defineMeta({
  name: "acp",
  audience: "human",
  summary: "Be the agent of an editor: Agent Client Protocol over stdio.",
  details:
    "Editors start it; docs/guide/editors.md says how. It reads requests on stdin until it ends and writes nothing but the protocol to stdout. Sessions are those of the project the editor names: begun here they continue in the terminal (start --harness direct) and on the page, and the other way round.",
  fields: {
    model: {
      type: "string",
      description: "Model of new sessions; the editor can change it.",
      short: "m",
      value: "MODEL",
    },
    permission: {
      type: "string",
      description: "What may be done without asking. Without it everything but looking is asked.",
      choices: PERMISSION_TIERS,
      value: "TIER",
    },
  },
  format: "text",
  output: objectOf({}),
  examples: ["acp", "acp -m anthropic/claude-sonnet-4-6"],
})
