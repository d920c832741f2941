/** Opens a model from its configuration. This touches neither the network nor a provider's code. */
import { familyOf } from "../domain/base-instructions.ts"
import type { Model } from "../port/model.ts"
import type { Time } from "../port/time.ts"
import { checkModelConfig, readVariants, wireName, type ModelConfig, type ProviderName } from "./config.ts"
import { openHttp } from "./http-fetch.ts"
import { openProviderModel } from "./provider-model.ts"
import { openScriptedModel } from "./scripted.ts"

export interface OpenModelOptions extends Pick<Time, "now" | "sleep"> {
  /** Connections shared with other models. */
  readonly http?: ReturnType<typeof openHttp>
  /** Credentials of the other models, hidden in this one's messages. */
  readonly secrets?: readonly string[]
}

export const openModel = (config: ModelConfig, options: OpenModelOptions): Model => {
  checkModelConfig(config)
  const { id, contextWindow, maxOutput, price } = config
  return {
    id,
    contextWindow,
    maxOutput,
    family: familyOf(config.provider, wireName(config)),
    answersBySchema: ANSWERS_BY_SCHEMA.has(config.provider),
    systemInHistory: config.provider !== "anthropic" && config.provider !== "google",
    ...(price === undefined ? {} : { price }),
    ...(config.hosted === undefined ? {} : { hosted: config.hosted }),
    ...(config.variants === undefined ? {} : { variants: readVariants(config) }),
    stream: openStream(config, options),
  }
}

/** A compatible server may support a schema, but there is no way to know, so it gets the tool. */
const ANSWERS_BY_SCHEMA: ReadonlySet<ProviderName> = new Set(["anthropic", "google", "openai"])

const openStream = (config: ModelConfig, options: OpenModelOptions): Model["stream"] => {
  const { provider, idleMs } = config
  const { now, sleep, secrets = [], http = openHttp() } = options
  if (provider === "scripted") return openScriptedModel(config, { sleep, now })
  const fetch = http(idleMs === undefined ? {} : { idleMs })
  return openProviderModel({ ...config, provider }, { fetch, now, sleep, secrets })
}
