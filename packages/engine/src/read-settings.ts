/** Completes the options of an engine, which were checked before. */
import type { EngineOptions } from "./api.ts"
import { DEFAULT_LIMITS, LIMITS } from "./domain/limits.ts"
import { DEFAULT_RETRY } from "./domain/retry.ts"
import { openPlaces } from "./domain/workspaces.ts"
import { openHttp } from "./model/http-fetch.ts"
import { openModel } from "./model/open-model.ts"
import { secretsOf } from "./model/secrets.ts"
import type { Time } from "./port/time.ts"
import { readAgents } from "./read-agents.ts"
import { requireModel, type SettingsValue } from "./session/index.ts"
import { openValueCheck } from "./tool/check-value.ts"
import { workspacesOf } from "./worker-options.ts"

export const readSettings = (options: EngineOptions, time: Time): SettingsValue => {
  // One model may have read another's key, in a file or in the output of a command.
  const secrets = options.models.flatMap(secretsOf)
  const http = openHttp()
  const models = new Map(
    options.models.map((config) => [config.id, openModel(config, { ...time, secrets, http })] as const),
  )
  const agents = readAgents(options.agents)
  for (const wanted of [options.model, options.compaction?.model, options.titles?.model])
    if (wanted !== undefined) requireModel({ models, defaultModel: undefined }, wanted)
  return {
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    retry: {
      ...DEFAULT_RETRY,
      ...options.retry,
      isPatient: options.retry?.attempts === undefined,
      patienceMs: options.limits?.patienceMs ?? DEFAULT_LIMITS.patienceMs,
    },
    compaction: {
      auto: options.compaction?.auto ?? true,
      buffer: options.compaction?.buffer,
      keepTokens: options.compaction?.keepTokens,
      model: options.compaction?.model,
      prompt: options.compaction?.prompt,
      timeoutMs: options.compaction?.timeoutMs ?? LIMITS.summaryMs,
      prune: options.compaction?.prune ?? false,
    },
    titles: {
      model: options.titles?.model,
      timeoutMs: options.titles?.timeoutMs ?? LIMITS.titleMs,
    },
    rules: options.permissions ?? [],
    recovery: options.recovery ?? "settle",
    caps: options.budget,
    agents,
    models,
    defaultModel: options.model,
    followPeer: options.followPeer,
    places: openPlaces(workspacesOf(options)),
    openValueCheck,
  }
}
