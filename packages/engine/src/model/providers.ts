/**
 * The AI SDK's providers. Each is loaded when its first model is used, because importing one costs more than opening the
 * engine.
 */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { JsonObject } from "@meridian/protocol"

import type { ModelRequest, PromptMessage } from "../port/model.ts"
import { shapeForAnthropic } from "./anthropic-prompt.ts"
import { withUniqueCallIds } from "./call-ids.ts"
import { loadCompatibleModel, type StreamingModel } from "./compatible-model.ts"
import { openCompatiblePrompt } from "./compatible-prompt.ts"
import { wireName, type ModelConfig, type ProviderName } from "./config.ts"
import { shapeForGoogle, showsThoughts } from "./google-prompt.ts"
import type { Fetch } from "./http-fetch.ts"

export type WireProvider = Exclude<ProviderName, "scripted">

export interface Provider {
  /** `fields`: extra fields of the request body, for providers that write it without `fetch`. */
  readonly load: (
    config: ModelConfig,
    fetch: Fetch,
    fields: JsonObject | undefined,
  ) => Promise<StreamingModel>
  /** What this provider needs besides prompt, tools and limits. Opened once per model. */
  readonly openShape: (config: ModelConfig) => (request: ModelRequest) => ShapedRequest
}

interface ShapedRequest {
  readonly prompt: readonly PromptMessage[]
  readonly options: Pick<LanguageModelV4CallOptions, "providerOptions" | "headers">
}

export const PROVIDER_TABLE: Readonly<Record<WireProvider, Provider>> = {
  "openai-compatible": {
    load: loadCompatibleModel,
    openShape: () => {
      const shapePrompt = openCompatiblePrompt()
      return ({ prompt, sessionID }) => ({
        prompt: shapePrompt(prompt),
        options: isHeaderValue(sessionID) ? { headers: { "x-session-affinity": sessionID } } : {},
      })
    },
  },
  openai: {
    load: async (config, fetch) => {
      const { createOpenAI } = await import("@ai-sdk/openai")
      return createOpenAI({ ...account(config), fetch, headers: { ...config.headers } }).responses(
        wireName(config),
      )
    },
    openShape:
      () =>
      ({ prompt, sessionID, answer }) => ({
        prompt: withUniqueCallIds(prompt),
        options: {
          // Nothing is stored at the provider: reasoning comes back encrypted and travels with the prompt. A user's schema
          // seldom meets the rules of strict mode, so we check the answer ourselves.
          providerOptions: {
            openai: {
              store: false,
              promptCacheKey: sessionID.slice(-CACHE_KEY_LIMIT),
              ...(answer === undefined ? {} : { strictJsonSchema: false }),
            },
          },
        },
      }),
  },
  anthropic: {
    load: async (config, fetch) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic")
      return createAnthropic({ ...account(config), fetch, headers: { ...config.headers } })(wireName(config))
    },
    openShape:
      () =>
      ({ prompt, passing }) => ({
        prompt: shapeForAnthropic(withUniqueCallIds(prompt), passing),
        options: {},
      }),
  },
  google: {
    load: async (config, fetch) => {
      const { createGoogle } = await import("@ai-sdk/google")
      return createGoogle({ ...account(config), fetch, headers: { ...config.headers } })(wireName(config))
    },
    openShape: (config) => {
      const options = showsThoughts(wireName(config))
        ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }
        : {}
      return ({ prompt }) => ({ prompt: shapeForGoogle(withUniqueCallIds(prompt)), options })
    },
  },
}

/** OpenAI refuses longer ones. */
const CACHE_KEY_LIMIT = 64

/**
 * Without a URL and a key, the SDK takes the key from the environment, as people expect. With a custom URL and no key it
 * must not: that would send the user's real key to a stranger.
 */
const account = ({ baseURL, apiKey }: ModelConfig): { baseURL?: string; apiKey?: string } => ({
  ...(baseURL === undefined ? {} : { baseURL, apiKey: "none" }),
  ...(apiKey === undefined ? {} : { apiKey }),
})

const isHeaderValue = (text: string): boolean => /^[\x21-\x7E]{1,200}$/.test(text)
