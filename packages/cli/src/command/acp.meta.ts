import { objectOf } from "@meridian/protocol"
import { defineMeta, PERMISSION_TIERS } from "@meridian/spaces"

export const ACP = defineMeta({
  name: "acp",
  audience: "human",
  summary: "Be the agent of an editor: Agent Client Protocol over stdio.",
  details:
    "Editors start it; see docs/guide/editors.md. It reads requests until stdin ends, and writes only the protocol to stdout. Sessions belong to the project the editor names: begun here, they continue in the terminal (start --harness direct) and on the page, and the other way round.",
  fields: {
    model: {
      type: "string",
      description: "Model of new sessions; the editor can change it.",
      short: "m",
      value: "MODEL",
    },
    permission: {
      type: "string",
      description: "What may be done without asking. By default everything but looking is asked about.",
      choices: PERMISSION_TIERS,
      value: "TIER",
    },
  },
  format: "text",
  output: objectOf({}),
  examples: ["acp", "acp -m anthropic/claude-sonnet-4-6"],
})
