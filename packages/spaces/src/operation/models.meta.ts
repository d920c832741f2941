import { BOOLEAN, INTEGER, NUMBER, STRING, listOf, objectOf, oneOf } from "@meridian/protocol"

import { defineMeta } from "./operation.ts"

const PRICE = objectOf({ input: NUMBER, output: NUMBER }, { cache_read: NUMBER, cache_write: NUMBER })

const MODEL = objectOf(
  { model_id: STRING, aliases: listOf(STRING), harness: STRING, usable: BOOLEAN },
  {
    reason: STRING,
    default: BOOLEAN,
    harness_model: STRING,
    effort: STRING,
    role: STRING,
    strengths: STRING,
    cost_tier: STRING,
    context_window: INTEGER,
    max_output: INTEGER,
    price: PRICE,
    limits: oneOf("config", "catalogue", "assumed"),
    count: INTEGER,
  },
)

export const MODELS_LIST = defineMeta({
  name: "models.list",
  audience: "agent",
  tool: "models_list",
  summary: "List models with routing guidance: what is usable now, and why the others are not.",
  details:
    "A model decides its harness. Models are built in and in .meridian/models.toml; a row of the same id replaces the built-in one. Unlisted names are routed by their look: claude-* to claude, gpt-*, o3 and codex-* to codex, provider/model to opencode, direct/provider/model to the engine. Models of the engine come from the usual variables and the tables [providers.NAME] and [models.\"provider/model\"] of config.toml; their limits and prices (dollars per million tokens) from a catalogue that 'meridian models update' renews. Nothing is asked over the network without --probe.",
  fields: {
    provider: {
      type: "string",
      description: "All models of this engine provider, and no others.",
      value: "NAME",
    },
    probe: {
      type: "boolean",
      description: "Ask compatible servers (Ollama, LM Studio, vLLM, your own) for their current models.",
    },
  },
  output: objectOf({ models: listOf(MODEL) }),
  examples: ["models list", "models list --provider openrouter", "models list --probe"],
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
  examples: ["models show opus", "models show direct/anthropic/claude-sonnet-4-6"],
})

export const MODELS_UPDATE = defineMeta({
  name: "models.update",
  audience: "human",
  summary: "Renew limits and prices of the engine's models from the network.",
  details:
    "Reads models.dev's api.json, or what --from or MERIDIAN_MODELS_URL names (https, http on this machine, or a file in the same form), and keeps a copy for this user. If that fails, nothing changes.",
  fields: {
    from: {
      type: "string",
      description: "Address or file to read instead of https://models.dev/api.json.",
      value: "ADDRESS",
    },
  },
  output: objectOf({
    path: STRING,
    from: STRING,
    models: INTEGER,
    added: INTEGER,
    removed: INTEGER,
    changed: INTEGER,
  }),
  examples: ["models update", "models update --from ./api.json"],
})
