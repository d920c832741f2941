import { defineMeta, objectOf } from "@meridian/spaces"

export const SERVE = defineMeta({
  name: "serve",
  audience: "human",
  summary: "Offer the agent commands as MCP tools over stdio.",
  details:
    "Reads requests on stdin until it ends and writes nothing but the protocol to stdout. Tools: run_spawn, run_continue, run_list, run_show, run_stats, run_wait, skills_list, skills_show, models_list, models_show, doctor.",
  fields: {},
  format: "text",
  output: objectOf({}),
  examples: ["serve"],
})
