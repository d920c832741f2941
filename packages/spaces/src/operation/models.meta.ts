import { defineMeta } from "./operation.ts"
import { listOf, objectOf, STRING } from "./schema.ts"

const MODEL = objectOf(
  { model_id: STRING, aliases: listOf(STRING), harness: STRING },
  { harness_model: STRING, effort: STRING, role: STRING, strengths: STRING, cost_tier: STRING },
)

export const MODELS_LIST = defineMeta({
  name: "models.list",
  audience: "agent",
  tool: "models_list",
  summary: "List catalog models with routing guidance.",
  details:
    "A model decides its harness. Models are built in and in .meridian/models.toml; a row of the same id replaces the built-in one. Names that are not listed are routed by their look: claude-* to claude, gpt-*, o3 and codex-* to codex, provider/model to opencode.",
  fields: {},
  output: objectOf({ models: listOf(MODEL) }),
})

export const MODELS_SHOW = defineMeta({
  name: "models.show",
  audience: "agent",
  tool: "models_show",
  summary: "Show one model by id or alias.",
  fields: {
    model: {
      type: "string",
      description: "Id or alias of the model.",
      positional: true,
      required: true,
      value: "MODEL",
    },
  },
  output: MODEL,
  examples: ["models show opus"],
})
